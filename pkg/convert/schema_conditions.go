package convert

import "toolx/pkg/jsonschema"

// conditionRules keep properties that only conditions declare.
type conditionRules struct {
	*report
	*schemaReader
	refs *references
}

// conditionals adds properties that only if, then, else and dependentSchemas declare, for targets without these
// keywords.
func (c *conditionRules) conditionals(o *object, at *place) {
	if at.profile.keeps("if", at.root) || !o.Has("if", "then", "else", "dependentSchemas") {
		return
	}
	branches := []*node{o.Get("then"), o.Get("else")}
	for _, m := range o.Get("dependentSchemas").Members() {
		branches = append(branches, m.Node)
	}
	var declared []*object
	for _, text := range branches {
		if branch := c.branch(text, at); branch != nil {
			declared = append(declared, branch)
		}
	}
	properties := editable(o.Get("properties"))
	c.adopt(properties, declared, *at)
	if condition := c.branch(o.Get("if"), at); condition != nil {
		c.adoptCondition(properties, condition, *at)
	}
	if len(properties.Members()) > 0 {
		o.Set("properties", properties)
	}
}

// branch reads a conditional schema; nil if it is not an object.
func (c *conditionRules) branch(text *node, at *place) *object {
	if !text.IsObject() {
		return nil
	}
	where := *at
	where.inline = true
	branch := c.refs.flat(text, &where)
	if branch != nil {
		at.open = where.open
	}
	return branch
}

// adopt adds missing properties as optional ones that allow what any branch allows.
func (c *conditionRules) adopt(properties *node, branches []*object, at place) {
	for _, name := range propertyNames(branches) {
		if properties.Has(name) {
			continue
		}
		properties.Set(name, alternativesOf(name, nil, branches))
		c.recordLoss(at.property(name), Info, "changed", "conditional property to an optional one")
	}
}

// adoptCondition adds properties that only a condition mentions. The condition does not restrict them, so only their
// types are known.
func (c *conditionRules) adoptCondition(properties *node, condition *object, at place) {
	for _, m := range condition.Get("properties").Members() {
		if properties.Has(m.Name) {
			continue
		}
		kinds := c.shape(m.Node).Kinds()
		if kinds == jsonschema.AnyKind {
			c.recordLoss(at.property(m.Name), Lossy, "dropped", "property that only a condition mentions")
			continue
		}
		properties.Set(m.Name, jsonschema.Build("type", quoteTypes(kinds.Names())))
		c.recordLoss(at.property(m.Name), Info, "changed", "property of a condition to an optional one")
	}
}
