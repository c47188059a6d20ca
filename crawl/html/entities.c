/* The named character references of HTML.
 * Made by tools/gen_entities.py: change that, not this.
 *
 * The names that share a first letter lie sorted in one string, which ends[] cuts into names; the
 * top bit of an end says that its name may be written without a semicolon. codes[] has the
 * character; its top byte, when not 0, says which of seconds[] follows it. */
#include "crawl/html/internal.h"

#include <string.h>

/* clang-format off */
static const char *const names[] = {
    "AEligAMPAacuteAbreveAcircAcyAfrAgraveAlphaAmacrAndAogonAopfApplyFunctionAringAscrAssign"
    "AtildeAuml",
    "BackslashBarvBarwedBcyBecauseBernoullisBetaBfrBopfBreveBscrBumpeq",
    "CHcyCOPYCacuteCapCapitalDifferentialDCayleysCcaronCcedilCcircCconintCdotCedillaCenterDotCfr"
    "ChiCircleDotCircleMinusCirclePlusCircleTimesClockwiseContourIntegralCloseCurlyDoubleQuote"
    "CloseCurlyQuoteColonColoneCongruentConintContourIntegralCopfCoproduct"
    "CounterClockwiseContourIntegralCrossCscrCupCupCap",
    "DDDDotrahdDJcyDScyDZcyDaggerDarrDashvDcaronDcyDelDeltaDfrDiacriticalAcuteDiacriticalDot"
    "DiacriticalDoubleAcuteDiacriticalGraveDiacriticalTildeDiamondDifferentialDDopfDotDotDot"
    "DotEqualDoubleContourIntegralDoubleDotDoubleDownArrowDoubleLeftArrowDoubleLeftRightArrow"
    "DoubleLeftTeeDoubleLongLeftArrowDoubleLongLeftRightArrowDoubleLongRightArrowDoubleRightArrow"
    "DoubleRightTeeDoubleUpArrowDoubleUpDownArrowDoubleVerticalBarDownArrowDownArrowBar"
    "DownArrowUpArrowDownBreveDownLeftRightVectorDownLeftTeeVectorDownLeftVectorDownLeftVectorBar"
    "DownRightTeeVectorDownRightVectorDownRightVectorBarDownTeeDownTeeArrowDownarrowDscrDstrok",
    "ENGETHEacuteEcaronEcircEcyEdotEfrEgraveElementEmacrEmptySmallSquareEmptyVerySmallSquareEogon"
    "EopfEpsilonEqualEqualTildeEquilibriumEscrEsimEtaEumlExistsExponentialE",
    "FcyFfrFilledSmallSquareFilledVerySmallSquareFopfForAllFouriertrfFscr",
    "GJcyGTGammaGammadGbreveGcedilGcircGcyGdotGfrGgGopfGreaterEqualGreaterEqualLess"
    "GreaterFullEqualGreaterGreaterGreaterLessGreaterSlantEqualGreaterTildeGscrGt",
    "HARDcyHacekHatHcircHfrHilbertSpaceHopfHorizontalLineHscrHstrokHumpDownHumpHumpEqual",
    "IEcyIJligIOcyIacuteIcircIcyIdotIfrIgraveImImacrImaginaryIImpliesIntIntegralIntersection"
    "InvisibleCommaInvisibleTimesIogonIopfIotaIscrItildeIukcyIuml",
    "JcircJcyJfrJopfJscrJsercyJukcy",
    "KHcyKJcyKappaKcedilKcyKfrKopfKscr",
    "LJcyLTLacuteLambdaLangLaplacetrfLarrLcaronLcedilLcyLeftAngleBracketLeftArrowLeftArrowBar"
    "LeftArrowRightArrowLeftCeilingLeftDoubleBracketLeftDownTeeVectorLeftDownVector"
    "LeftDownVectorBarLeftFloorLeftRightArrowLeftRightVectorLeftTeeLeftTeeArrowLeftTeeVector"
    "LeftTriangleLeftTriangleBarLeftTriangleEqualLeftUpDownVectorLeftUpTeeVectorLeftUpVector"
    "LeftUpVectorBarLeftVectorLeftVectorBarLeftarrowLeftrightarrowLessEqualGreaterLessFullEqual"
    "LessGreaterLessLessLessSlantEqualLessTildeLfrLlLleftarrowLmidotLongLeftArrow"
    "LongLeftRightArrowLongRightArrowLongleftarrowLongleftrightarrowLongrightarrowLopf"
    "LowerLeftArrowLowerRightArrowLscrLshLstrokLt",
    "MapMcyMediumSpaceMellintrfMfrMinusPlusMopfMscrMu",
    "NJcyNacuteNcaronNcedilNcyNegativeMediumSpaceNegativeThickSpaceNegativeThinSpace"
    "NegativeVeryThinSpaceNestedGreaterGreaterNestedLessLessNewLineNfrNoBreakNonBreakingSpaceNopf"
    "NotNotCongruentNotCupCapNotDoubleVerticalBarNotElementNotEqualNotEqualTildeNotExists"
    "NotGreaterNotGreaterEqualNotGreaterFullEqualNotGreaterGreaterNotGreaterLess"
    "NotGreaterSlantEqualNotGreaterTildeNotHumpDownHumpNotHumpEqualNotLeftTriangle"
    "NotLeftTriangleBarNotLeftTriangleEqualNotLessNotLessEqualNotLessGreaterNotLessLess"
    "NotLessSlantEqualNotLessTildeNotNestedGreaterGreaterNotNestedLessLessNotPrecedes"
    "NotPrecedesEqualNotPrecedesSlantEqualNotReverseElementNotRightTriangleNotRightTriangleBar"
    "NotRightTriangleEqualNotSquareSubsetNotSquareSubsetEqualNotSquareSuperset"
    "NotSquareSupersetEqualNotSubsetNotSubsetEqualNotSucceedsNotSucceedsEqual"
    "NotSucceedsSlantEqualNotSucceedsTildeNotSupersetNotSupersetEqualNotTildeNotTildeEqual"
    "NotTildeFullEqualNotTildeTildeNotVerticalBarNscrNtildeNu",
    "OEligOacuteOcircOcyOdblacOfrOgraveOmacrOmegaOmicronOopfOpenCurlyDoubleQuoteOpenCurlyQuoteOr"
    "OscrOslashOtildeOtimesOumlOverBarOverBraceOverBracketOverParenthesis",
    "PartialDPcyPfrPhiPiPlusMinusPoincareplanePopfPrPrecedesPrecedesEqualPrecedesSlantEqual"
    "PrecedesTildePrimeProductProportionProportionalPscrPsi",
    "QUOTQfrQopfQscr",
    "RBarrREGRacuteRangRarrRarrtlRcaronRcedilRcyReReverseElementReverseEquilibrium"
    "ReverseUpEquilibriumRfrRhoRightAngleBracketRightArrowRightArrowBarRightArrowLeftArrow"
    "RightCeilingRightDoubleBracketRightDownTeeVectorRightDownVectorRightDownVectorBarRightFloor"
    "RightTeeRightTeeArrowRightTeeVectorRightTriangleRightTriangleBarRightTriangleEqual"
    "RightUpDownVectorRightUpTeeVectorRightUpVectorRightUpVectorBarRightVectorRightVectorBar"
    "RightarrowRopfRoundImpliesRrightarrowRscrRshRuleDelayed",
    "SHCHcySHcySOFTcySacuteScScaronScedilScircScySfrShortDownArrowShortLeftArrowShortRightArrow"
    "ShortUpArrowSigmaSmallCircleSopfSqrtSquareSquareIntersectionSquareSubsetSquareSubsetEqual"
    "SquareSupersetSquareSupersetEqualSquareUnionSscrStarSubSubsetSubsetEqualSucceeds"
    "SucceedsEqualSucceedsSlantEqualSucceedsTildeSuchThatSumSupSupersetSupersetEqualSupset",
    "THORNTRADETSHcyTScyTabTauTcaronTcedilTcyTfrThereforeThetaThickSpaceThinSpaceTildeTildeEqual"
    "TildeFullEqualTildeTildeTopfTripleDotTscrTstrok",
    "UacuteUarrUarrocirUbrcyUbreveUcircUcyUdblacUfrUgraveUmacrUnderBarUnderBraceUnderBracket"
    "UnderParenthesisUnionUnionPlusUogonUopfUpArrowUpArrowBarUpArrowDownArrowUpDownArrow"
    "UpEquilibriumUpTeeUpTeeArrowUparrowUpdownarrowUpperLeftArrowUpperRightArrowUpsiUpsilonUring"
    "UscrUtildeUuml",
    "VDashVbarVcyVdashVdashlVeeVerbarVertVerticalBarVerticalLineVerticalSeparatorVerticalTilde"
    "VeryThinSpaceVfrVopfVscrVvdash",
    "WcircWedgeWfrWopfWscr",
    "XfrXiXopfXscr",
    "YAcyYIcyYUcyYacuteYcircYcyYfrYopfYscrYuml",
    "ZHcyZacuteZcaronZcyZdotZeroWidthSpaceZetaZfrZopfZscr",
    "aacuteabreveacacEacdacircacuteacyaeligafafragravealefsymalephalphaamacramalgampandandandandd"
    "andslopeandvangangeangleangmsdangmsdaaangmsdabangmsdacangmsdadangmsdaeangmsdafangmsdag"
    "angmsdahangrtangrtvbangrtvbdangsphangstangzarraogonaopfapapEapacirapeapidaposapproxapproxeq"
    "aringascrastasympasympeqatildeaumlawconintawint",
    "bNotbackcongbackepsilonbackprimebacksimbacksimeqbarveebarwedbarwedgebbrkbbrktbrkbcongbcy"
    "bdquobecausbecausebemptyvbepsibernoubetabethbetweenbfrbigcapbigcircbigcupbigodotbigoplus"
    "bigotimesbigsqcupbigstarbigtriangledownbigtriangleupbiguplusbigveebigwedgebkarowblacklozenge"
    "blacksquareblacktriangleblacktriangledownblacktriangleleftblacktrianglerightblankblk12blk14"
    "blk34blockbnebnequivbnotbopfbotbottombowtieboxDLboxDRboxDlboxDrboxHboxHDboxHUboxHdboxHuboxUL"
    "boxURboxUlboxUrboxVboxVHboxVLboxVRboxVhboxVlboxVrboxboxboxdLboxdRboxdlboxdrboxhboxhDboxhU"
    "boxhdboxhuboxminusboxplusboxtimesboxuLboxuRboxulboxurboxvboxvHboxvLboxvRboxvhboxvlboxvr"
    "bprimebrevebrvbarbscrbsemibsimbsimebsolbsolbbsolhsubbullbulletbumpbumpEbumpebumpeq",
    "cacutecapcapandcapbrcupcapcapcapcupcapdotcapscaretcaronccapsccaronccedilccircccupsccupssm"
    "cdotcedilcemptyvcentcenterdotcfrchcycheckcheckmarkchicircirEcirccirceqcirclearrowleft"
    "circlearrowrightcircledRcircledScircledastcircledcirccircleddashcirecirfnintcirmidcirscir"
    "clubsclubsuitcoloncolonecoloneqcommacommatcompcompfncomplementcomplexescongcongdotconintcopf"
    "coprodcopycopysrcrarrcrosscscrcsubcsubecsupcsupectdotcudarrlcudarrrcueprcuesccularrcularrp"
    "cupcupbrcapcupcapcupcupcupdotcuporcupscurarrcurarrmcurlyeqpreccurlyeqsucccurlyveecurlywedge"
    "currencurvearrowleftcurvearrowrightcuveecuwedcwconintcwintcylcty",
    "dArrdHardaggerdalethdarrdashdashvdbkarowdblacdcarondcyddddaggerddarrddotseqdegdeltademptyv"
    "dfishtdfrdharldharrdiamdiamonddiamondsuitdiamsdiedigammadisindivdividedivideontimesdivonx"
    "djcydlcorndlcropdollardopfdotdoteqdoteqdotdotminusdotplusdotsquaredoublebarwedgedownarrow"
    "downdownarrowsdownharpoonleftdownharpoonrightdrbkarowdrcorndrcropdscrdscydsoldstrokdtdotdtri"
    "dtrifduarrduhardwangledzcydzigrarr",
    "eDDoteDoteacuteeasterecaronecirecircecolonecyedoteeefDotefregegraveegsegsdotelelintersellels"
    "elsdotemacremptyemptysetemptyvemspemsp13emsp14engenspeogoneopfepareparsleplusepsiepsilon"
    "epsiveqcirceqcoloneqsimeqslantgtreqslantlessequalsequestequivequivDDeqvparslerDoterarrescr"
    "esdotesimetaetheumleuroexclexistexpectationexponentiale",
    "fallingdotseqfcyfemaleffiligffligfflligffrfiligfjligflatflligfltnsfnoffopfforallforkforkv"
    "fpartintfrac12frac13frac14frac15frac16frac18frac23frac25frac34frac35frac38frac45frac56frac58"
    "frac78fraslfrownfscr",
    "gEgElgacutegammagammadgapgbrevegcircgcygdotgegelgeqgeqqgeqslantgesgesccgesdotgesdotogesdotol"
    "geslgeslesgfrggggggimelgjcyglglEglagljgnEgnapgnapproxgnegneqgneqqgnsimgopfgravegscrgsimgsime"
    "gsimlgtgtccgtcirgtdotgtlPargtquestgtrapproxgtrarrgtrdotgtreqlessgtreqqlessgtrlessgtrsim"
    "gvertneqqgvnE",
    "hArrhairsphalfhamilthardcyharrharrcirharrwhbarhcircheartsheartsuithellipherconhfrhksearow"
    "hkswarowhoarrhomththookleftarrowhookrightarrowhopfhorbarhscrhslashhstrokhybullhyphen",
    "iacuteicicircicyiecyiexcliffifrigraveiiiiiintiiintiinfiniiotaijligimacrimageimaglineimagpart"
    "imathimofimpedinincareinfininfintieinodotintintcalintegersintercalintlarhkintprodiocyiogon"
    "iopfiotaiprodiquestiscrisinisinEisindotisinsisinsvisinvititildeiukcyiuml",
    "jcircjcyjfrjmathjopfjscrjsercyjukcy",
    "kappakappavkcedilkcykfrkgreenkhcykjcykopfkscr",
    "lAarrlArrlAtaillBarrlElEglHarlacutelaemptyvlagranlambdalanglangdlanglelaplaquolarrlarrb"
    "larrbfslarrfslarrhklarrlplarrpllarrsimlarrtllatlataillatelateslbarrlbbrklbracelbracklbrke"
    "lbrksldlbrkslulcaronlcedillceillcublcyldcaldquoldquorldrdharldrusharldshleleftarrow"
    "leftarrowtailleftharpoondownleftharpoonupleftleftarrowsleftrightarrowleftrightarrows"
    "leftrightharpoonsleftrightsquigarrowleftthreetimeslegleqleqqleqslantleslescclesdotlesdoto"
    "lesdotorlesglesgeslessapproxlessdotlesseqgtrlesseqqgtrlessgtrlesssimlfishtlfloorlfrlglgE"
    "lhardlharulharullhblkljcyllllarrllcornerllhardlltrilmidotlmoustlmoustachelnElnaplnapproxlne"
    "lneqlneqqlnsimloangloarrlobrklongleftarrowlongleftrightarrowlongmapstolongrightarrow"
    "looparrowleftlooparrowrightloparlopflopluslotimeslowastlowbarlozlozengelozflparlparltlrarr"
    "lrcornerlrharlrhardlrmlrtrilsaquolscrlshlsimlsimelsimglsqblsquolsquorlstrokltltccltcirltdot"
    "lthreeltimesltlarrltquestltrParltriltrieltriflurdsharluruharlvertneqqlvnE",
    "mDDotmacrmalemaltmaltesemapmapstomapstodownmapstoleftmapstoupmarkermcommamcymdash"
    "measuredanglemfrmhomicromidmidastmidcirmiddotminusminusbminusdminusdumlcpmldrmnplusmodels"
    "mopfmpmscrmstposmumultimapmumap",
    "nGgnGtnGtvnLeftarrownLeftrightarrownLlnLtnLtvnRightarrownVDashnVdashnablanacutenangnapnapE"
    "napidnaposnapproxnaturnaturalnaturalsnbspnbumpnbumpencapncaronncedilncongncongdotncupncy"
    "ndashneneArrnearhknearrnearrownedotnequivnesearnesimnexistnexistsnfrngEngengeqngeqqngeqslant"
    "ngesngsimngtngtrnhArrnharrnhparninisnisdnivnjcynlArrnlEnlarrnldrnlenleftarrownleftrightarrow"
    "nleqnleqqnleqslantnlesnlessnlsimnltnltrinltrienmidnopfnotnotinnotinEnotindotnotinvanotinvb"
    "notinvcnotninotnivanotnivbnotnivcnparnparallelnparslnpartnpolintnprnprcuenprenprecnpreceq"
    "nrArrnrarrnrarrcnrarrwnrightarrownrtrinrtrienscnsccuenscenscrnshortmidnshortparallelnsim"
    "nsimensimeqnsmidnsparnsqsubensqsupensubnsubEnsubensubsetnsubseteqnsubseteqqnsuccnsucceqnsup"
    "nsupEnsupensupsetnsupseteqnsupseteqqntglntildentlgntriangleleftntrianglelefteqntriangleright"
    "ntrianglerighteqnunumnumeronumspnvDashnvHarrnvapnvdashnvgenvgtnvinfinnvlArrnvlenvltnvltrie"
    "nvrArrnvrtrienvsimnwArrnwarhknwarrnwarrownwnear",
    "oSoacuteoastocirocircocyodashodblacodivodotodsoldoeligofcirofrogonograveogtohbarohmointolarr"
    "olcirolcrossolineoltomacromegaomicronomidominusoopfoparoperpoplusororarrordorderorderofordf"
    "ordmorigoforororslopeorvoscroslashosolotildeotimesotimesasoumlovbar",
    "parparaparallelparsimparslpartpcypercntperiodpermilperppertenkpfrphiphivphmmatphonepi"
    "pitchforkpivplanckplanckhplankvplusplusacirplusbpluscirplusdoplusdupluseplusmnplussimplustwo"
    "pmpointintpopfpoundprprEprapprcuepreprecprecapproxpreccurlyeqpreceqprecnapproxprecneqq"
    "precnsimprecsimprimeprimesprnEprnapprnsimprodprofalarproflineprofsurfpropproptoprsimprurel"
    "pscrpsipuncsp",
    "qfrqintqopfqprimeqscrquaternionsquatintquestquesteqquot",
    "rAarrrArrrAtailrBarrrHarraceracuteradicraemptyvrangrangdrangerangleraquorarrrarraprarrb"
    "rarrbfsrarrcrarrfsrarrhkrarrlprarrplrarrsimrarrtlrarrwratailratiorationalsrbarrrbbrkrbrace"
    "rbrackrbrkerbrksldrbrkslurcaronrcedilrceilrcubrcyrdcardldharrdquordquorrdshrealrealine"
    "realpartrealsrectregrfishtrfloorrfrrhardrharurharulrhorhovrightarrowrightarrowtail"
    "rightharpoondownrightharpoonuprightleftarrowsrightleftharpoonsrightrightarrows"
    "rightsquigarrowrightthreetimesringrisingdotseqrlarrrlharrlmrmoustrmoustachernmidroangroarr"
    "robrkroparropfroplusrotimesrparrpargtrppolintrrarrrsaquorscrrshrsqbrsquorsquorrthreertimes"
    "rtrirtriertrifrtriltriruluharrx",
    "sacutesbquoscscEscapscaronsccuescescedilscircscnEscnapscnsimscpolintscsimscysdotsdotbsdote"
    "seArrsearhksearrsearrowsectsemiseswarsetminussetmnsextsfrsfrownsharpshchcyshcyshortmid"
    "shortparallelshysigmasigmafsigmavsimsimdotsimesimeqsimgsimgEsimlsimlEsimnesimplussimrarr"
    "slarrsmallsetminussmashpsmeparslsmidsmilesmtsmtesmtessoftcysolsolbsolbarsopfspadesspadesuit"
    "sparsqcapsqcapssqcupsqcupssqsubsqsubesqsubsetsqsubseteqsqsupsqsupesqsupsetsqsupseteqsqu"
    "squaresquarfsqufsrarrsscrssetmnssmilesstarfstarstarfstraightepsilonstraightphistrnssubsubE"
    "subdotsubesubedotsubmultsubnEsubnesubplussubrarrsubsetsubseteqsubseteqqsubsetneqsubsetneqq"
    "subsimsubsubsubsupsuccsuccapproxsucccurlyeqsucceqsuccnapproxsuccneqqsuccnsimsuccsimsumsung"
    "supsup1sup2sup3supEsupdotsupdsubsupesupedotsuphsolsuphsubsuplarrsupmultsupnEsupnesupplus"
    "supsetsupseteqsupseteqqsupsetneqsupsetneqqsupsimsupsubsupsupswArrswarhkswarrswarrowswnwar"
    "szlig",
    "targettautbrktcarontcediltcytdottelrectfrthere4thereforethetathetasymthetavthickapprox"
    "thicksimthinspthkapthksimthorntildetimestimesbtimesbartimesdtinttoeatoptopbottopcirtopf"
    "topforktosatprimetradetriangletriangledowntrianglelefttrianglelefteqtriangleqtriangleright"
    "trianglerighteqtridottrietriminustriplustrisbtritimetrpeziumtscrtscytshcytstroktwixt"
    "twoheadleftarrowtwoheadrightarrow",
    "uArruHaruacuteuarrubrcyubreveucircucyudarrudblacudharufishtufrugraveuharluharruhblkulcorn"
    "ulcornerulcropultriumacrumluogonuopfuparrowupdownarrowupharpoonleftupharpoonrightuplusupsi"
    "upsihupsilonupuparrowsurcornurcornerurcropuringurtriuscrutdotutildeutriutrifuuarruumluwangle",
    "vArrvBarvBarvvDashvangrtvarepsilonvarkappavarnothingvarphivarpivarproptovarrvarrhovarsigma"
    "varsubsetneqvarsubsetneqqvarsupsetneqvarsupsetneqqvarthetavartriangleleftvartrianglerightvcy"
    "vdashveeveebarveeeqvellipverbarvertvfrvltrivnsubvnsupvopfvpropvrtrivscrvsubnEvsubnevsupnE"
    "vsupnevzigzag",
    "wcircwedbarwedgewedgeqweierpwfrwopfwpwrwreathwscr",
    "xcapxcircxcupxdtrixfrxhArrxharrxixlArrxlarrxmapxnisxodotxopfxoplusxotimexrArrxrarrxscrxsqcup"
    "xuplusxutrixveexwedge",
    "yacuteyacyycircycyyenyfryicyyopfyscryucyyuml",
    "zacutezcaronzcyzdotzeetrfzetazfrzhcyzigrarrzopfzscrzwjzwnj"
};

static const uint16_t firsts[] = {
    0, 19, 31, 65, 119, 144, 152, 173, 185, 210, 217, 225, 284, 293, 364, 387, 406, 410, 454, 494,
    516, 552, 569, 574, 578, 588, 598, 658, 773, 867, 931, 993, 1029, 1088, 1116, 1166, 1174, 1184,
    1336, 1373, 1538, 1591, 1657, 1667, 1769, 1921, 1977, 2024, 2066, 2077, 2101, 2112, 2125,
};

static const uint16_t ends[] = {
    32773, 32776, 32782, 20, 32793, 28, 31, 32805, 42, 47, 50, 55, 59, 72, 32845, 81, 87, 32861,
    32865, 9, 13, 19, 22, 29, 39, 43, 46, 50, 55, 59, 65, 4, 32776, 14, 17, 37, 44, 50, 32824, 61,
    68, 72, 79, 88, 91, 94, 103, 114, 124, 135, 159, 180, 195, 200, 206, 215, 221, 236, 240, 249,
    280, 285, 289, 292, 298, 2, 10, 14, 18, 22, 28, 32, 37, 43, 46, 49, 54, 57, 73, 87, 109, 125,
    141, 148, 161, 165, 168, 174, 182, 203, 212, 227, 242, 262, 275, 294, 318, 338, 354, 368, 381,
    398, 415, 424, 436, 452, 461, 480, 497, 511, 528, 546, 561, 579, 586, 598, 607, 611, 617, 3,
    32774, 32780, 18, 32791, 26, 30, 33, 32807, 46, 51, 67, 87, 92, 96, 103, 108, 118, 129, 133,
    137, 140, 32912, 150, 162, 3, 6, 23, 44, 48, 54, 64, 68, 4, 32774, 11, 17, 23, 29, 34, 37, 41,
    44, 46, 50, 62, 78, 94, 108, 119, 136, 148, 152, 154, 6, 11, 14, 19, 22, 34, 38, 52, 56, 62,
    74, 83, 4, 9, 13, 32787, 32792, 27, 31, 34, 32808, 42, 47, 57, 64, 67, 75, 87, 101, 115, 120,
    124, 128, 132, 138, 143, 32915, 5, 8, 11, 15, 19, 25, 30, 4, 8, 13, 19, 22, 25, 29, 33, 4,
    32774, 12, 18, 22, 32, 36, 42, 48, 51, 67, 76, 88, 107, 118, 135, 152, 166, 183, 192, 206, 221,
    228, 240, 253, 265, 280, 297, 313, 328, 340, 355, 365, 378, 387, 401, 417, 430, 441, 449, 463,
    472, 475, 477, 487, 493, 506, 524, 538, 551, 569, 583, 587, 601, 616, 620, 623, 629, 631, 3, 6,
    17, 26, 29, 38, 42, 46, 48, 4, 10, 16, 22, 25, 44, 62, 79, 100, 120, 134, 141, 144, 151, 167,
    171, 174, 186, 195, 215, 225, 233, 246, 255, 265, 280, 299, 316, 330, 350, 365, 380, 392, 407,
    425, 445, 452, 464, 478, 489, 506, 518, 541, 558, 569, 585, 606, 623, 639, 658, 679, 694, 714,
    731, 753, 762, 776, 787, 803, 824, 840, 851, 867, 875, 888, 905, 918, 932, 936, 33710, 944, 5,
    32779, 32784, 19, 25, 28, 32802, 39, 44, 51, 55, 75, 89, 91, 95, 32869, 32875, 113, 32885, 124,
    133, 144, 159, 8, 11, 14, 17, 19, 28, 41, 45, 47, 55, 68, 86, 99, 104, 111, 121, 133, 137, 140,
    32772, 7, 11, 15, 5, 32776, 14, 18, 22, 28, 34, 40, 43, 45, 59, 77, 97, 100, 103, 120, 130,
    143, 162, 174, 192, 210, 225, 243, 253, 261, 274, 288, 301, 317, 335, 352, 368, 381, 397, 408,
    422, 432, 436, 448, 459, 463, 466, 477, 6, 10, 16, 22, 24, 30, 36, 41, 44, 47, 61, 75, 90, 102,
    107, 118, 122, 126, 132, 150, 162, 179, 193, 212, 223, 227, 231, 234, 240, 251, 259, 272, 290,
    303, 311, 314, 317, 325, 338, 344, 32773, 10, 15, 19, 22, 25, 31, 37, 40, 43, 52, 57, 67, 76,
    81, 91, 105, 115, 119, 128, 132, 138, 32774, 10, 18, 23, 29, 32802, 37, 43, 46, 32820, 57, 65,
    75, 87, 103, 108, 117, 122, 126, 133, 143, 159, 170, 183, 188, 198, 205, 216, 230, 245, 249,
    256, 261, 265, 271, 33043, 5, 9, 12, 17, 23, 26, 32, 36, 47, 59, 76, 89, 102, 105, 109, 113,
    119, 5, 10, 13, 17, 21, 3, 5, 9, 13, 4, 8, 12, 32786, 23, 26, 29, 33, 37, 41, 4, 10, 16, 19,
    23, 37, 41, 44, 48, 52, 32774, 12, 14, 17, 20, 32793, 32798, 33, 32806, 40, 43, 32817, 56, 61,
    66, 71, 76, 32847, 82, 88, 92, 100, 104, 107, 111, 116, 122, 130, 138, 146, 154, 162, 170, 178,
    186, 191, 198, 206, 212, 217, 224, 229, 233, 235, 238, 244, 247, 251, 255, 261, 269, 33042,
    278, 281, 286, 293, 33067, 33071, 311, 316, 4, 12, 23, 32, 39, 48, 54, 60, 68, 72, 80, 85, 88,
    93, 99, 106, 113, 118, 124, 128, 132, 139, 142, 148, 155, 161, 168, 176, 185, 193, 200, 215,
    228, 236, 242, 250, 256, 268, 279, 292, 309, 326, 344, 349, 354, 359, 364, 369, 372, 379, 383,
    387, 390, 396, 402, 407, 412, 417, 422, 426, 431, 436, 441, 446, 451, 456, 461, 466, 470, 475,
    480, 485, 490, 495, 500, 506, 511, 516, 521, 526, 530, 535, 540, 545, 550, 558, 565, 573, 578,
    583, 588, 593, 597, 602, 607, 612, 617, 622, 627, 633, 638, 33412, 648, 653, 657, 662, 666,
    671, 679, 683, 689, 693, 698, 703, 709, 6, 9, 15, 23, 29, 35, 41, 45, 50, 55, 60, 66, 32840,
    77, 82, 89, 93, 32866, 105, 32877, 118, 121, 125, 130, 139, 142, 145, 149, 153, 159, 174, 190,
    198, 206, 216, 227, 238, 242, 250, 256, 263, 268, 276, 281, 287, 294, 299, 305, 309, 315, 325,
    334, 338, 345, 351, 355, 361, 33133, 371, 376, 381, 385, 389, 394, 398, 403, 408, 415, 422,
    427, 432, 438, 445, 448, 456, 462, 468, 474, 479, 483, 489, 496, 507, 518, 526, 536, 33310,
    556, 571, 576, 581, 589, 594, 600, 4, 8, 14, 20, 24, 28, 33, 40, 45, 51, 54, 56, 63, 68, 75,
    32846, 83, 90, 96, 99, 104, 109, 113, 120, 131, 136, 139, 146, 151, 154, 32928, 173, 179, 183,
    189, 195, 201, 205, 208, 213, 221, 229, 236, 245, 259, 268, 282, 297, 313, 321, 327, 333, 337,
    341, 345, 351, 356, 360, 365, 370, 375, 382, 386, 394, 5, 9, 32783, 21, 27, 31, 32804, 42, 45,
    49, 51, 56, 59, 61, 32835, 70, 76, 78, 86, 89, 92, 98, 103, 108, 116, 122, 126, 132, 138, 141,
    145, 150, 154, 158, 164, 169, 173, 180, 185, 191, 198, 203, 213, 224, 230, 236, 241, 248, 256,
    261, 266, 270, 275, 279, 282, 33053, 33057, 293, 297, 302, 313, 325, 13, 16, 22, 28, 33, 39,
    42, 47, 52, 56, 61, 66, 70, 74, 80, 84, 89, 97, 32871, 109, 32883, 121, 127, 133, 139, 145,
    32919, 157, 163, 169, 175, 181, 187, 192, 197, 201, 2, 5, 11, 16, 22, 25, 31, 36, 39, 43, 45,
    48, 51, 55, 63, 66, 71, 77, 84, 92, 96, 102, 105, 107, 110, 115, 119, 121, 124, 127, 130, 133,
    137, 145, 148, 152, 157, 162, 166, 171, 175, 179, 184, 189, 32959, 195, 200, 205, 211, 218,
    227, 233, 239, 248, 258, 265, 271, 280, 284, 4, 10, 14, 20, 26, 30, 37, 42, 46, 51, 57, 66, 72,
    78, 81, 89, 97, 102, 108, 121, 135, 139, 145, 149, 155, 161, 167, 173, 32774, 8, 32781, 16, 20,
    32793, 28, 31, 32805, 39, 45, 50, 56, 61, 66, 71, 76, 84, 92, 97, 101, 106, 108, 114, 119, 127,
    133, 136, 142, 150, 158, 166, 173, 177, 182, 186, 190, 195, 32969, 205, 209, 214, 221, 226,
    232, 237, 239, 245, 250, 33022, 5, 8, 11, 16, 20, 24, 30, 35, 5, 11, 17, 20, 23, 29, 33, 37,
    41, 45, 5, 9, 15, 20, 22, 25, 29, 35, 43, 49, 55, 59, 64, 70, 73, 32846, 82, 87, 94, 100, 106,
    112, 118, 125, 131, 134, 140, 144, 149, 154, 159, 165, 171, 176, 183, 190, 196, 202, 207, 211,
    214, 218, 223, 229, 236, 244, 248, 250, 259, 272, 287, 300, 314, 328, 343, 360, 379, 393, 396,
    399, 403, 411, 414, 419, 425, 432, 440, 444, 450, 460, 467, 476, 486, 493, 500, 506, 512, 515,
    517, 520, 525, 530, 536, 541, 545, 547, 552, 560, 566, 571, 577, 583, 593, 596, 600, 608, 611,
    615, 620, 625, 630, 635, 640, 653, 671, 681, 695, 708, 722, 727, 731, 737, 744, 750, 756, 759,
    766, 770, 774, 780, 785, 793, 798, 804, 807, 812, 818, 822, 825, 829, 834, 839, 843, 848, 854,
    860, 33630, 866, 871, 876, 882, 888, 894, 901, 907, 911, 916, 921, 929, 936, 945, 949, 5,
    32777, 13, 17, 24, 27, 33, 43, 53, 61, 67, 73, 76, 81, 94, 97, 100, 32873, 108, 114, 120,
    32894, 131, 137, 143, 150, 154, 158, 164, 170, 174, 176, 180, 186, 188, 196, 201, 3, 6, 10, 20,
    35, 38, 41, 45, 56, 62, 68, 73, 79, 83, 86, 90, 95, 100, 107, 112, 119, 127, 32899, 136, 142,
    146, 152, 158, 163, 171, 175, 178, 183, 185, 190, 196, 201, 208, 213, 219, 225, 230, 236, 243,
    246, 249, 252, 256, 261, 270, 274, 279, 282, 286, 291, 296, 301, 303, 306, 310, 313, 317, 322,
    325, 330, 334, 337, 347, 362, 366, 371, 380, 384, 389, 394, 397, 402, 408, 412, 416, 33187,
    424, 430, 438, 445, 452, 459, 464, 471, 478, 485, 489, 498, 504, 509, 516, 519, 525, 529, 534,
    541, 546, 551, 557, 563, 574, 579, 585, 588, 594, 598, 602, 611, 625, 629, 634, 640, 645, 650,
    657, 664, 668, 673, 678, 685, 694, 704, 709, 716, 720, 725, 730, 737, 746, 756, 760, 33534,
    770, 783, 798, 812, 828, 830, 833, 839, 844, 850, 856, 860, 866, 870, 874, 881, 887, 891, 895,
    902, 908, 915, 920, 925, 931, 936, 943, 949, 2, 32776, 12, 16, 32789, 24, 29, 35, 39, 43, 49,
    54, 59, 62, 66, 32840, 75, 80, 83, 87, 92, 97, 104, 109, 112, 117, 122, 129, 133, 139, 143,
    147, 152, 157, 159, 164, 167, 172, 179, 32951, 32955, 193, 197, 204, 207, 211, 32985, 221,
    32995, 233, 241, 33013, 250, 3, 32775, 15, 21, 26, 30, 33, 39, 45, 51, 55, 62, 65, 68, 72, 78,
    83, 85, 94, 97, 103, 110, 116, 120, 128, 133, 140, 146, 152, 157, 32931, 170, 177, 179, 187,
    191, 32964, 198, 201, 205, 210, 213, 217, 227, 238, 244, 255, 263, 271, 278, 283, 289, 293,
    298, 304, 308, 316, 324, 332, 336, 342, 347, 353, 357, 360, 366, 3, 7, 11, 17, 21, 32, 39, 44,
    51, 32823, 5, 9, 15, 20, 24, 28, 34, 39, 47, 51, 56, 61, 67, 32840, 76, 82, 87, 94, 99, 105,
    111, 117, 123, 130, 136, 141, 147, 152, 161, 166, 171, 177, 183, 188, 195, 202, 208, 214, 219,
    223, 226, 230, 237, 242, 248, 252, 256, 263, 271, 276, 280, 33051, 289, 295, 298, 303, 308,
    314, 317, 321, 331, 345, 361, 375, 390, 407, 423, 438, 453, 457, 469, 474, 479, 482, 488, 498,
    503, 508, 513, 518, 523, 527, 533, 540, 544, 550, 558, 563, 569, 573, 576, 580, 585, 591, 597,
    603, 607, 612, 617, 625, 632, 634, 6, 11, 13, 16, 20, 26, 31, 34, 40, 45, 49, 54, 60, 68, 73,
    76, 80, 85, 90, 95, 101, 106, 113, 32885, 121, 127, 135, 140, 144, 147, 153, 158, 164, 168,
    176, 189, 32960, 197, 203, 209, 212, 218, 222, 227, 231, 236, 240, 245, 250, 257, 264, 269,
    282, 288, 296, 300, 305, 308, 312, 317, 323, 326, 330, 336, 340, 346, 355, 359, 364, 370, 375,
    381, 386, 392, 400, 410, 415, 421, 429, 439, 442, 448, 454, 458, 463, 467, 473, 479, 485, 489,
    494, 509, 520, 525, 528, 532, 538, 542, 549, 556, 561, 566, 573, 580, 586, 594, 603, 612, 622,
    628, 634, 640, 644, 654, 665, 671, 682, 690, 698, 705, 708, 712, 715, 33487, 33491, 33495, 731,
    737, 744, 748, 755, 762, 769, 776, 783, 788, 793, 800, 806, 814, 823, 832, 842, 848, 854, 860,
    865, 871, 876, 883, 889, 33662, 6, 9, 13, 19, 25, 28, 32, 38, 41, 47, 56, 61, 69, 75, 86, 94,
    100, 105, 111, 32884, 121, 32894, 132, 140, 146, 150, 154, 157, 163, 169, 173, 180, 184, 190,
    195, 203, 215, 227, 241, 250, 263, 278, 284, 288, 296, 303, 308, 315, 323, 327, 331, 336, 342,
    347, 363, 380, 4, 8, 32782, 18, 23, 29, 32802, 37, 42, 48, 53, 59, 62, 32836, 73, 78, 83, 89,
    97, 103, 108, 113, 32884, 121, 125, 132, 143, 156, 170, 175, 179, 184, 191, 201, 207, 215, 221,
    226, 231, 235, 240, 246, 250, 255, 260, 33032, 271, 4, 8, 13, 18, 24, 34, 42, 52, 58, 63, 72,
    76, 82, 90, 102, 115, 127, 140, 148, 163, 179, 182, 187, 190, 196, 201, 207, 213, 217, 220,
    225, 230, 235, 239, 244, 249, 253, 259, 265, 271, 277, 284, 5, 11, 16, 22, 28, 31, 35, 37, 39,
    45, 49, 4, 9, 13, 18, 21, 26, 31, 33, 38, 43, 47, 51, 56, 60, 66, 72, 77, 82, 86, 92, 98, 103,
    107, 113, 32774, 10, 15, 18, 32789, 24, 28, 32, 36, 40, 32812, 6, 12, 15, 19, 25, 29, 32, 36,
    43, 47, 51, 54, 58,
};

static const uint32_t codes[] = {
    198, 38, 193, 258, 194, 1040, 120068, 192, 913, 256, 10835, 260, 120120, 8289, 197, 119964,
    8788, 195, 196, 8726, 10983, 8966, 1041, 8757, 8492, 914, 120069, 120121, 728, 8492, 8782,
    1063, 169, 262, 8914, 8517, 8493, 268, 199, 264, 8752, 266, 184, 183, 8493, 935, 8857, 8854,
    8853, 8855, 8754, 8221, 8217, 8759, 10868, 8801, 8751, 8750, 8450, 8720, 8755, 10799, 119966,
    8915, 8781, 8517, 10513, 1026, 1029, 1039, 8225, 8609, 10980, 270, 1044, 8711, 916, 120071,
    180, 729, 733, 96, 732, 8900, 8518, 120123, 168, 8412, 8784, 8751, 168, 8659, 8656, 8660,
    10980, 10232, 10234, 10233, 8658, 8872, 8657, 8661, 8741, 8595, 10515, 8693, 785, 10576, 10590,
    8637, 10582, 10591, 8641, 10583, 8868, 8615, 8659, 119967, 272, 330, 208, 201, 282, 202, 1069,
    278, 120072, 200, 8712, 274, 9723, 9643, 280, 120124, 917, 10869, 8770, 8652, 8496, 10867, 919,
    203, 8707, 8519, 1060, 120073, 9724, 9642, 120125, 8704, 8497, 8497, 1027, 62, 915, 988, 286,
    290, 284, 1043, 288, 120074, 8921, 120126, 8805, 8923, 8807, 10914, 8823, 10878, 8819, 119970,
    8811, 1066, 711, 94, 292, 8460, 8459, 8461, 9472, 8459, 294, 8782, 8783, 1045, 306, 1025, 205,
    206, 1048, 304, 8465, 204, 8465, 298, 8520, 8658, 8748, 8747, 8898, 8291, 8290, 302, 120128,
    921, 8464, 296, 1030, 207, 308, 1049, 120077, 120129, 119973, 1032, 1028, 1061, 1036, 922, 310,
    1050, 120078, 120130, 119974, 1033, 60, 313, 923, 10218, 8466, 8606, 317, 315, 1051, 10216,
    8592, 8676, 8646, 8968, 10214, 10593, 8643, 10585, 8970, 8596, 10574, 8867, 8612, 10586, 8882,
    10703, 8884, 10577, 10592, 8639, 10584, 8636, 10578, 8656, 8660, 8922, 8806, 8822, 10913,
    10877, 8818, 120079, 8920, 8666, 319, 10229, 10231, 10230, 10232, 10234, 10233, 120131, 8601,
    8600, 8466, 8624, 321, 8810, 10501, 1052, 8287, 8499, 120080, 8723, 120132, 8499, 924, 1034,
    323, 327, 325, 1053, 8203, 8203, 8203, 8203, 8811, 8810, 10, 120081, 8288, 160, 8469, 10988,
    8802, 8813, 8742, 8713, 8800, 67117634, 8708, 8815, 8817, 67117671, 67117675, 8825, 67119742,
    8821, 67117646, 67117647, 8938, 67119567, 8940, 8814, 8816, 8824, 67117674, 67119741, 8820,
    67119778, 67119777, 8832, 67119791, 8928, 8716, 8939, 67119568, 8941, 67117711, 8930, 67117712,
    8931, 100672130, 8840, 8833, 67119792, 8929, 67117695, 100672131, 8841, 8769, 8772, 8775, 8777,
    8740, 119977, 209, 925, 338, 211, 212, 1054, 336, 120082, 210, 332, 937, 927, 120134, 8220,
    8216, 10836, 119978, 216, 213, 10807, 214, 8254, 9182, 9140, 9180, 8706, 1055, 120083, 934,
    928, 177, 8460, 8473, 10939, 8826, 10927, 8828, 8830, 8243, 8719, 8759, 8733, 119979, 936, 34,
    120084, 8474, 119980, 10512, 174, 340, 10219, 8608, 10518, 344, 342, 1056, 8476, 8715, 8651,
    10607, 8476, 929, 10217, 8594, 8677, 8644, 8969, 10215, 10589, 8642, 10581, 8971, 8866, 8614,
    10587, 8883, 10704, 8885, 10575, 10588, 8638, 10580, 8640, 10579, 8658, 8477, 10608, 8667,
    8475, 8625, 10740, 1065, 1064, 1068, 346, 10940, 352, 350, 348, 1057, 120086, 8595, 8592, 8594,
    8593, 931, 8728, 120138, 8730, 9633, 8851, 8847, 8849, 8848, 8850, 8852, 119982, 8902, 8912,
    8912, 8838, 8827, 10928, 8829, 8831, 8715, 8721, 8913, 8835, 8839, 8913, 222, 8482, 1035, 1062,
    9, 932, 356, 354, 1058, 120087, 8756, 920, 83894367, 8201, 8764, 8771, 8773, 8776, 120139,
    8411, 119983, 358, 218, 8607, 10569, 1038, 364, 219, 1059, 368, 120088, 217, 362, 95, 9183,
    9141, 9181, 8899, 8846, 370, 120140, 8593, 10514, 8645, 8597, 10606, 8869, 8613, 8657, 8661,
    8598, 8599, 978, 933, 366, 119984, 360, 220, 8875, 10987, 1042, 8873, 10982, 8897, 8214, 8214,
    8739, 124, 10072, 8768, 8202, 120089, 120141, 119985, 8874, 372, 8896, 120090, 120142, 119986,
    120091, 926, 120143, 119987, 1071, 1031, 1070, 221, 374, 1067, 120092, 120144, 119988, 376,
    1046, 377, 381, 1047, 379, 8203, 918, 8488, 8484, 119989, 225, 259, 8766, 50340414, 8767, 226,
    180, 1072, 230, 8289, 120094, 224, 8501, 8501, 945, 257, 10815, 38, 8743, 10837, 10844, 10840,
    10842, 8736, 10660, 8736, 8737, 10664, 10665, 10666, 10667, 10668, 10669, 10670, 10671, 8735,
    8894, 10653, 8738, 197, 9084, 261, 120146, 8776, 10864, 10863, 8778, 8779, 39, 8776, 8778, 229,
    119990, 42, 8776, 8781, 227, 228, 8755, 10769, 10989, 8780, 1014, 8245, 8765, 8909, 8893, 8965,
    8965, 9141, 9142, 8780, 1073, 8222, 8757, 8757, 10672, 1014, 8492, 946, 8502, 8812, 120095,
    8898, 9711, 8899, 10752, 10753, 10754, 10758, 9733, 9661, 9651, 10756, 8897, 8896, 10509,
    10731, 9642, 9652, 9662, 9666, 9656, 9251, 9618, 9617, 9619, 9608, 117440573, 117449313, 8976,
    120147, 8869, 8869, 8904, 9559, 9556, 9558, 9555, 9552, 9574, 9577, 9572, 9575, 9565, 9562,
    9564, 9561, 9553, 9580, 9571, 9568, 9579, 9570, 9567, 10697, 9557, 9554, 9488, 9484, 9472,
    9573, 9576, 9516, 9524, 8863, 8862, 8864, 9563, 9560, 9496, 9492, 9474, 9578, 9569, 9566, 9532,
    9508, 9500, 8245, 728, 166, 119991, 8271, 8765, 8909, 92, 10693, 10184, 8226, 8226, 8782,
    10926, 8783, 8783, 263, 8745, 10820, 10825, 10827, 10823, 10816, 134226473, 8257, 711, 10829,
    269, 231, 265, 10828, 10832, 267, 184, 10674, 162, 183, 120096, 1095, 10003, 10003, 967, 9675,
    10691, 710, 8791, 8634, 8635, 174, 9416, 8859, 8858, 8861, 8791, 10768, 10991, 10690, 9827,
    9827, 58, 8788, 8788, 44, 64, 8705, 8728, 8705, 8450, 8773, 10861, 8750, 120148, 8720, 169,
    8471, 8629, 10007, 119992, 10959, 10961, 10960, 10962, 8943, 10552, 10549, 8926, 8927, 8630,
    10557, 8746, 10824, 10822, 10826, 8845, 10821, 134226474, 8631, 10556, 8926, 8927, 8910, 8911,
    164, 8630, 8631, 8910, 8911, 8754, 8753, 9005, 8659, 10597, 8224, 8504, 8595, 8208, 8867,
    10511, 733, 271, 1076, 8518, 8225, 8650, 10871, 176, 948, 10673, 10623, 120097, 8643, 8642,
    8900, 8900, 9830, 9830, 168, 989, 8946, 247, 247, 8903, 8903, 1106, 8990, 8973, 36, 120149,
    729, 8784, 8785, 8760, 8724, 8865, 8966, 8595, 8650, 8643, 8642, 10512, 8991, 8972, 119993,
    1109, 10742, 273, 8945, 9663, 9662, 8693, 10607, 10662, 1119, 10239, 10871, 8785, 233, 10862,
    283, 8790, 234, 8789, 1101, 279, 8519, 8786, 120098, 10906, 232, 10902, 10904, 10905, 9191,
    8467, 10901, 10903, 275, 8709, 8709, 8709, 8195, 8196, 8197, 331, 8194, 281, 120150, 8917,
    10723, 10865, 949, 949, 1013, 8790, 8789, 8770, 10902, 10901, 61, 8799, 8801, 10872, 10725,
    8787, 10609, 8495, 8784, 8770, 951, 240, 235, 8364, 33, 8707, 8496, 8519, 8786, 1092, 9792,
    64259, 64256, 64260, 120099, 64257, 16777318, 9837, 64258, 9649, 402, 120151, 8704, 8916,
    10969, 10765, 189, 8531, 188, 8533, 8537, 8539, 8532, 8534, 190, 8535, 8540, 8536, 8538, 8541,
    8542, 8260, 8994, 119995, 8807, 10892, 501, 947, 989, 10886, 287, 285, 1075, 289, 8805, 8923,
    8805, 8807, 10878, 10878, 10921, 10880, 10882, 10884, 134226651, 10900, 120100, 8811, 8921,
    8503, 1107, 8823, 10898, 10917, 10916, 8809, 10890, 10890, 10888, 10888, 8809, 8935, 120152,
    96, 8458, 8819, 10894, 10896, 62, 10919, 10874, 8919, 10645, 10876, 10886, 10616, 8919, 8923,
    10892, 8823, 8819, 134226537, 134226537, 8660, 8202, 189, 8459, 1098, 8596, 10568, 8621, 8463,
    293, 9829, 9829, 8230, 8889, 120101, 10533, 10534, 8703, 8763, 8617, 8618, 120153, 8213,
    119997, 8463, 295, 8259, 8208, 237, 8291, 238, 1080, 1077, 161, 8660, 120102, 236, 8520, 10764,
    8749, 10716, 8489, 307, 299, 8465, 8464, 8465, 305, 8887, 437, 8712, 8453, 8734, 10717, 305,
    8747, 8890, 8484, 8890, 10775, 10812, 1105, 303, 120154, 953, 10812, 191, 119998, 8712, 8953,
    8949, 8948, 8947, 8712, 8290, 297, 1110, 239, 309, 1081, 120103, 567, 120155, 119999, 1112,
    1108, 954, 1008, 311, 1082, 120104, 312, 1093, 1116, 120156, 120000, 8666, 8656, 10523, 10510,
    8806, 10891, 10594, 314, 10676, 8466, 955, 10216, 10641, 10216, 10885, 171, 8592, 8676, 10527,
    10525, 8617, 8619, 10553, 10611, 8610, 10923, 10521, 10925, 134228653, 10508, 10098, 123, 91,
    10635, 10639, 10637, 318, 316, 8968, 123, 1083, 10550, 8220, 8222, 10599, 10571, 8626, 8804,
    8592, 8610, 8637, 8636, 8647, 8596, 8646, 8651, 8621, 8907, 8922, 8804, 8806, 10877, 10877,
    10920, 10879, 10881, 10883, 134226650, 10899, 10885, 8918, 8922, 10891, 8822, 8818, 10620,
    8970, 120105, 8822, 10897, 8637, 8636, 10602, 9604, 1113, 8810, 8647, 8990, 10603, 9722, 320,
    9136, 9136, 8808, 10889, 10889, 10887, 10887, 8808, 8934, 10220, 8701, 10214, 10229, 10231,
    10236, 10230, 8619, 8620, 10629, 120157, 10797, 10804, 8727, 95, 9674, 9674, 10731, 40, 10643,
    8646, 8991, 8651, 10605, 8206, 8895, 8249, 120001, 8624, 8818, 10893, 10895, 91, 8216, 8218,
    322, 60, 10918, 10873, 8918, 8907, 8905, 10614, 10875, 10646, 9667, 8884, 9666, 10570, 10598,
    134226536, 134226536, 8762, 175, 9794, 10016, 10016, 8614, 8614, 8615, 8612, 8613, 9646, 10793,
    1084, 8212, 8737, 120106, 8487, 181, 8739, 42, 10992, 183, 8722, 8863, 8760, 10794, 10971,
    8230, 8723, 8871, 120158, 8723, 120002, 8766, 956, 8888, 8888, 67117785, 100672107, 67117675,
    8653, 8654, 67117784, 100672106, 67117674, 8655, 8879, 8878, 8711, 324, 100672032, 8777,
    67119728, 67117643, 329, 8777, 9838, 9838, 8469, 160, 67117646, 67117647, 10819, 328, 326,
    8775, 67119725, 10818, 1085, 8211, 8800, 8663, 10532, 8599, 8599, 67117648, 8802, 10536,
    67117634, 8708, 8708, 120107, 67117671, 8817, 8817, 67117671, 67119742, 67119742, 8821, 8815,
    8815, 8654, 8622, 10994, 8715, 8956, 8954, 8715, 1114, 8653, 67117670, 8602, 8229, 8816, 8602,
    8622, 8816, 67117670, 67119741, 67119741, 8814, 8820, 8814, 8938, 8940, 8740, 120159, 172,
    8713, 67117817, 67117813, 8713, 8951, 8950, 8716, 8716, 8958, 8957, 8742, 8742, 117451517,
    67117570, 10772, 8832, 8928, 67119791, 8832, 67119791, 8655, 8603, 67119411, 67117469, 8603,
    8939, 8941, 8833, 8929, 67119792, 120003, 8740, 8742, 8769, 8772, 8772, 8740, 8742, 8930, 8931,
    8836, 67119813, 8840, 100672130, 8840, 67119813, 8833, 67119792, 8837, 67119814, 8841,
    100672131, 8841, 67119814, 8825, 241, 8824, 8938, 8940, 8939, 8941, 957, 35, 8470, 8199, 8877,
    10500, 100672077, 8876, 100672101, 100663358, 10718, 10498, 100672100, 100663356, 100672180,
    10499, 100672181, 100672060, 8662, 10531, 8598, 8598, 10535, 9416, 243, 8859, 8858, 244, 1086,
    8861, 337, 10808, 8857, 10684, 339, 10687, 120108, 731, 242, 10689, 10677, 937, 8750, 8634,
    10686, 10683, 8254, 10688, 333, 969, 959, 10678, 8854, 120160, 10679, 10681, 8853, 8744, 8635,
    10845, 8500, 8500, 170, 186, 8886, 10838, 10839, 10843, 8500, 248, 8856, 245, 8855, 10806, 246,
    9021, 8741, 182, 8741, 10995, 11005, 8706, 1087, 37, 46, 8240, 8869, 8241, 120109, 966, 981,
    8499, 9742, 960, 8916, 982, 8463, 8462, 8463, 43, 10787, 8862, 10786, 8724, 10789, 10866, 177,
    10790, 10791, 177, 10773, 120161, 163, 8826, 10931, 10935, 8828, 10927, 8826, 10935, 8828,
    10927, 10937, 10933, 8936, 8830, 8242, 8473, 10933, 10937, 8936, 8719, 9006, 8978, 8979, 8733,
    8733, 8830, 8880, 120005, 968, 8200, 120110, 10764, 120162, 8279, 120006, 8461, 10774, 63,
    8799, 34, 8667, 8658, 10524, 10511, 10596, 33563197, 341, 8730, 10675, 10217, 10642, 10661,
    10217, 187, 8594, 10613, 8677, 10528, 10547, 10526, 8618, 8620, 10565, 10612, 8611, 8605,
    10522, 8758, 8474, 10509, 10099, 125, 93, 10636, 10638, 10640, 345, 343, 8969, 125, 1088,
    10551, 10601, 8221, 8221, 8627, 8476, 8475, 8476, 8477, 9645, 174, 10621, 8971, 120111, 8641,
    8640, 10604, 961, 1009, 8594, 8611, 8641, 8640, 8644, 8652, 8649, 8605, 8908, 730, 8787, 8644,
    8652, 8207, 9137, 9137, 10990, 10221, 8702, 10215, 10630, 120163, 10798, 10805, 41, 10644,
    10770, 8649, 8250, 120007, 8625, 93, 8217, 8217, 8908, 8906, 9657, 8885, 9656, 10702, 10600,
    8478, 347, 8218, 8827, 10932, 10936, 353, 8829, 10928, 351, 349, 10934, 10938, 8937, 10771,
    8831, 1089, 8901, 8865, 10854, 8664, 10533, 8600, 8600, 167, 59, 10537, 8726, 8726, 10038,
    120112, 8994, 9839, 1097, 1096, 8739, 8741, 173, 963, 962, 962, 8764, 10858, 8771, 8771, 10910,
    10912, 10909, 10911, 8774, 10788, 10610, 8592, 8726, 10803, 10724, 8739, 8995, 10922, 10924,
    134228652, 1100, 47, 10692, 9023, 120164, 9824, 9824, 8741, 8851, 134226579, 8852, 134226580,
    8847, 8849, 8847, 8849, 8848, 8850, 8848, 8850, 9633, 9633, 9642, 9642, 8594, 120008, 8726,
    8995, 8902, 9734, 9733, 1013, 981, 175, 8834, 10949, 10941, 8838, 10947, 10945, 10955, 8842,
    10943, 10617, 8834, 8838, 10949, 8842, 10955, 10951, 10965, 10963, 8827, 10936, 8829, 10928,
    10938, 10934, 8937, 8831, 8721, 9834, 8835, 185, 178, 179, 10950, 10942, 10968, 8839, 10948,
    10185, 10967, 10619, 10946, 10956, 8843, 10944, 8835, 8839, 10950, 8843, 10956, 10952, 10964,
    10966, 8665, 10534, 8601, 8601, 10538, 223, 8982, 964, 9140, 357, 355, 1090, 8411, 8981,
    120113, 8756, 8756, 952, 977, 977, 8776, 8764, 8201, 8776, 8764, 254, 732, 215, 8864, 10801,
    10800, 8749, 10536, 8868, 9014, 10993, 120165, 10970, 10537, 8244, 8482, 9653, 9663, 9667,
    8884, 8796, 9657, 8885, 9708, 8796, 10810, 10809, 10701, 10811, 9186, 120009, 1094, 1115, 359,
    8812, 8606, 8608, 8657, 10595, 250, 8593, 1118, 365, 251, 1091, 8645, 369, 10606, 10622,
    120114, 249, 8639, 8638, 9600, 8988, 8988, 8975, 9720, 363, 168, 371, 120166, 8593, 8597, 8639,
    8638, 8846, 965, 978, 965, 8648, 8989, 8989, 8974, 367, 9721, 120010, 8944, 361, 9653, 9652,
    8648, 252, 10663, 8661, 10984, 10985, 8872, 10652, 1013, 1008, 8709, 981, 982, 8733, 8597,
    1009, 962, 134226570, 134228683, 134226571, 134228684, 977, 8882, 8883, 1074, 8866, 8744, 8891,
    8794, 8942, 124, 124, 120115, 8882, 100672130, 100672131, 120167, 8733, 8883, 120011,
    134228683, 134226570, 134228684, 134226571, 10650, 373, 10847, 8743, 8793, 8472, 120116,
    120168, 8472, 8768, 8768, 120012, 8898, 9711, 8899, 9661, 120117, 10234, 10231, 958, 10232,
    10229, 10236, 8955, 10752, 120169, 10753, 10754, 10233, 10230, 120013, 10758, 10756, 9651,
    8897, 8896, 253, 1103, 375, 1099, 165, 120118, 1111, 120170, 120014, 1102, 255, 378, 382, 1079,
    380, 8488, 950, 120119, 1078, 8669, 120171, 120015, 8205, 8204,
};

static const uint32_t seconds[] = {
    0, 106, 817, 819, 824, 8202, 8402, 8421, 65024,
};

/* clang-format on */

#define BARE 0x8000

/* As memcmp orders them, the shorter first when one begins the other. */
static int compare(const char *name, size_t len, const char *with, size_t with_len)
{
    int order = memcmp(name, with, len < with_len ? len : with_len);
    return order != 0 ? order : (len > with_len) - (len < with_len);
}

static size_t put(uint32_t code, char out[SN_ENTITY_MAX])
{
    size_t len = sn_html_put_utf8(code & 0xffffff, out);
    if (code >> 24)
        len += sn_html_put_utf8(seconds[code >> 24], out + len);
    return len;
}

size_t sn_links_entity(const char *name, size_t len, bool bare, char out[SN_ENTITY_MAX])
{
    if (len == 0 || !sn_html_is_letter((uint8_t)name[0]))
        return 0;
    size_t letter = name[0] <= 'Z' ? (size_t)(name[0] - 'A') : (size_t)(name[0] - 'a') + 26;
    size_t low = firsts[letter], high = firsts[letter + 1];
    while (low < high) {
        size_t mid = (low + high) / 2;
        size_t from = mid == firsts[letter] ? 0 : ends[mid - 1] & ~(size_t)BARE;
        size_t to = ends[mid] & ~(size_t)BARE;
        int order = compare(name, len, names[letter] + from, to - from);
        if (order == 0)
            return bare && !(ends[mid] & BARE) ? 0 : put(codes[mid], out);
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return 0;
}
