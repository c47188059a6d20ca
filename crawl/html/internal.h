/* What the files of the link finder share; private to them.
 *
 *     links.c           feeding, tags and attributes        TEXT .. SELF_CLOSING
 *     links_pass.c      over text and plain tags            TEXT
 *     links_value.c     attribute values and references     VALUE_* and REF_*
 *     links_skip.c      comments, raw text, scripts         COMMENT_* .. PLAINTEXT
 *     links_tag.c       what a finished tag means
 *     links_meta.c      what a <meta> means
 *     links_foreign.c   inside <svg> and <math> or not
 *     links_text.c      names, values, lists of words
 *     links_utf16.c     UTF-16 to UTF-8
 *     links_entities.c  the named references (made by tools/gen_entities.py)
 *
 * A state function takes the unread bytes, which are at least one, and answers where the next state
 * goes on reading. It may answer the same place only after changing the state. */
#ifndef CRAWL_LINKS_INSIDE_H
#define CRAWL_LINKS_INSIDE_H

#include "crawl/html/chars.h"
#include "crawl/html/links.h"

enum sn_links_state {
    AT_TEXT,
    AT_TAG_OPEN,
    AT_END_TAG_OPEN,
    AT_TAG_NAME,
    AT_BEFORE_ATTR,
    AT_ATTR_NAME,
    AT_AFTER_ATTR_NAME,
    AT_BEFORE_VALUE,
    AT_AFTER_VALUE,
    AT_SELF_CLOSING,
    AT_VALUE_DOUBLE,
    AT_VALUE_SINGLE,
    AT_VALUE_BARE,
    AT_REF,
    AT_REF_NAME,
    AT_REF_NUMBER,
    AT_REF_HEX_START,
    AT_REF_DIGITS,
    AT_MARKUP, /* after "<!" */
    AT_MARKUP_DASH,
    AT_MARKUP_CDATA,
    AT_BOGUS,
    AT_COMMENT_START,
    AT_COMMENT_START_DASH,
    AT_COMMENT,
    AT_COMMENT_DASH,
    AT_COMMENT_DASHES,
    AT_COMMENT_BANG,
    AT_CDATA,
    AT_CDATA_BRACKET,
    AT_CDATA_BRACKETS,
    AT_RAW,
    AT_RAW_LT,
    AT_RAW_END,
    AT_SCRIPT_BANG,
    AT_SCRIPT_BANG_DASH,
    AT_ESCAPED,
    AT_ESCAPED_DASH,
    AT_ESCAPED_DASHES,
    AT_ESCAPED_LT,
    AT_ESCAPED_NAME, /* "<script" within "<!--": counts letters of a possible "script" */
    AT_PLAINTEXT
};

/* The tags that mean something here. */
enum sn_links_tag_id {
    TAG_OTHER,
    TAG_A,
    TAG_AREA,
    TAG_BASE,
    TAG_LINK,
    TAG_META,
    TAG_FRAME,
    TAG_IFRAME,
    TAG_SVG,
    TAG_MATH,
    TAG_SCRIPT,
    TAG_STYLE,
    TAG_XMP,
    TAG_NOEMBED,
    TAG_NOFRAMES,
    TAG_TEXTAREA,
    TAG_TITLE,
    TAG_PLAINTEXT
};

/* The attributes that mean something here; sets of them are 1 << id. The first four hold URLs. */
enum sn_links_attr_id {
    ATTR_HREF,
    ATTR_XLINK_HREF,
    ATTR_SRC,
    ATTR_CONTENT,
    ATTR_REL,
    ATTR_NAME,
    ATTR_HTTP_EQUIV,
    ATTR_CHARSET,
    ATTR_ENCODING,
    ATTR_COUNT,
    ATTR_NONE = ATTR_COUNT
};

enum sn_links_encoding { ENCODING_UNKNOWN, ENCODING_BYTES, ENCODING_UTF16LE, ENCODING_UTF16BE };

/* A name is kept as two words of eight bytes, so that comparing it is comparing two numbers. A name
 * longer than both is nobody's. */
#define SN_NAME_MAX 16

typedef struct sn_links_name {
    uint64_t head; /* the first eight bytes, lower case, last one lowest */
    uint64_t tail; /* the next eight */
    uint32_t len;  /* stops at SN_NAME_MAX + 1 */
} sn_links_name;

/* A name of up to eight letters as one number. */
#define N1(a) ((uint64_t)(a))
#define N2(a, b) (N1(a) << 8 | N1(b))
#define N3(a, b, c) (N2(a, b) << 8 | N1(c))
#define N4(a, b, c, d) (N3(a, b, c) << 8 | N1(d))
#define N5(a, b, c, d, e) (N4(a, b, c, d) << 8 | N1(e))
#define N6(a, b, c, d, e, f) (N5(a, b, c, d, e) << 8 | N1(f))
#define N7(a, b, c, d, e, f, g) (N6(a, b, c, d, e, f) << 8 | N1(g))
#define N8(a, b, c, d, e, f, g, h) (N7(a, b, c, d, e, f, g) << 8 | N1(h))

#define SN_FOREIGN_MAX 64

/* What an element on the stack is: of svg or math; a point within them where HTML begins again;
 * HTML behind such a point. */
enum sn_links_kind { SN_FOREIGN_SVG, SN_FOREIGN_MATH, SN_FOREIGN_POINT, SN_FOREIGN_HTML };

typedef struct sn_links_foreign {
    uint64_t head; /* of its name */
    uint64_t tail;
    uint8_t kind;
} sn_links_foreign;

#define SN_OPEN_BITS 12
#define SN_OPEN_NAMES (1u << SN_OPEN_BITS) /* counters of open elements, by name */

/* "CounterClockwiseContourIntegral" has 31 letters, and no named reference has more. */
#define SN_REF_MAX 32

typedef struct sn_text {
    const char *at;
    size_t len;
} sn_text;

struct sn_links {
    sn_links_options options;
    uint8_t state;

    /* The tag being read. */
    uint8_t tag; /* sn_links_tag_id */
    bool end_tag;
    bool self_closing;
    uint8_t attr;           /* sn_links_attr_id of the value being read; ATTR_NONE: not kept */
    uint16_t want;          /* attributes to keep */
    uint16_t have;          /* attributes that were there, kept or too long */
    uint16_t over;          /* attributes that were too long */
    sn_links_name name;     /* of the tag, then of the attribute */
    sn_links_name tag_name; /* of the tag, once it is known */
    struct {
        uint32_t at;
        uint32_t len;
    } value[ATTR_COUNT]; /* in `bytes` */
    char *bytes;
    size_t used;
    size_t room;

    /* A character reference being read. */
    uint8_t ref_back; /* the state to return to */
    uint8_t ref_len;
    bool ref_hex;
    uint32_t ref_code;
    char ref[SN_REF_MAX];

    bool after_cr;       /* a "\n" that follows belongs to the "\r" before it */
    uint8_t matched;     /* letters so far of `raw`, "script" or "[CDATA[" */
    bool double_escaped; /* within "<!-- <script>" of a script */
    bool escape_end;     /* AT_ESCAPED_NAME reads "</", not "<" */
    bool raw_escaped;    /* AT_RAW_END goes back to AT_ESCAPED, not AT_RAW */
    const char *raw;     /* the name whose end tag ends raw text */
    bool script;         /* raw text in which "<!--" counts */

    sn_links_foreign foreign[SN_FOREIGN_MAX];
    uint32_t depth;    /* used of `foreign` */
    uint64_t too_deep; /* elements that found no room there */
    uint8_t open[SN_OPEN_NAMES];

    uint8_t mark[6]; /* the first bytes of the page, until its encoding is known */
    uint8_t mark_len;
    uint8_t encoding; /* sn_links_encoding */
    uint8_t declared; /* the same, by the answer's headers */
    bool have_unit;   /* one byte of a UTF-16 unit has come */
    uint8_t unit;
    uint16_t surrogate; /* the first half of a pair, or 0 */

    bool in_title; /* raw text is that of the first <title> */
    bool title_seen;
    char title[SN_LINKS_TITLE_MAX]; /* as written */
    size_t title_len;

    bool failed; /* out of memory */
    bool base_seen;
    sn_links_page page;
};

/* links.c. What a byte does to a name: 0 goes on, SN_ENDS_TAG ends the name of a tag or an
 * attribute, SN_ENDS_ATTR that of an attribute only. */
enum { SN_ENDS_TAG = 1, SN_ENDS_ATTR = 2 };
extern const uint8_t sn_links_name_class[256];
void sn_links_read(sn_links *t, const uint8_t *p, const uint8_t *end);

/* links_pass.c: outside svg and math, passes over text and over tags that mean nothing, and reports
 * links that are written plainly. Answers where a "<" stands that has to be read, or `end`. */
const uint8_t *sn_links_pass(sn_links *t, const uint8_t *p, const uint8_t *end);

/* links_value.c */
const uint8_t *sn_links_value(sn_links *t, const uint8_t *p, const uint8_t *end);

/* links_skip.c */
const uint8_t *sn_links_skip(sn_links *t, const uint8_t *p, const uint8_t *end);

/* links_tag.c */
void sn_links_tag_named(sn_links *t);
void sn_links_tag_done(sn_links *t);
uint8_t sn_links_attr_named(const sn_links *t);
void sn_links_report(sn_links *t, sn_link_kind kind, sn_text href, unsigned rel);

/* title.c. The text of <title> as it is read, and once it is over. */
void sn_links_title_add(sn_links *t, const uint8_t *p, const uint8_t *end);
void sn_links_title_end(sn_links *t);

/* links_meta.c */
void sn_links_meta(sn_links *t);

/* links_foreign.c. sn_links_enter_foreign: true when the start tag that was just read is an element
 * of svg or math. */
bool sn_links_in_foreign(const sn_links *t);
/* Outside svg and math: how many elements of this name are open, about. sn_links_count_open: counts
 * the tag that was just read. */
uint8_t *sn_links_open_count(sn_links *t, const uint8_t *name, size_t len);
void sn_links_count_open(sn_links *t);
bool sn_links_enter_foreign(sn_links *t);
void sn_links_leave_foreign(sn_links *t);

/* links_text.c. sn_links_get: true when the attribute was there and not too long. sn_text_is: the
 * same but for case. sn_text_word: takes the next word off a list, whose words are parted by
 * spaces, and by commas if asked. */
bool sn_links_name_is(const sn_links_name *name, const char *text);
bool sn_links_get(const sn_links *t, enum sn_links_attr_id id, sn_text *out);
bool sn_text_is(sn_text a, const char *b);
sn_text sn_text_skip(sn_text in, size_t n);
sn_text sn_text_skip_spaces(sn_text in);
bool sn_text_word(sn_text *list, bool commas, sn_text *word);

/* links_utf16.c. sn_links_sniff: the encoding of a page that begins with t->mark, and how many of
 * those bytes are no text; ENCODING_UNKNOWN: more bytes are needed. */
uint8_t sn_links_sniff(const sn_links *t, size_t *skip);
void sn_links_utf16(sn_links *t, const uint8_t *p, const uint8_t *end);

/* links_entities.c: writes the UTF-8 of a named reference (two characters at most) and answers its
 * length, or 0 when there is no such name. `bare`: it was written without ";". */
#define SN_ENTITY_MAX 8
size_t sn_links_entity(const char *name, size_t len, bool bare, char out[SN_ENTITY_MAX]);

#endif
