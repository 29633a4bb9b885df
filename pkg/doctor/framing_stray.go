package doctor

type strays struct{}
