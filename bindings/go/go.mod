module seen

go 1.19
