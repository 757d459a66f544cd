package descriptive

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"labshelf/formats/descriptive/units"
)

// ReadQuantities converts the new and changed values of m, compared with before. A group with a
// number in a string and a unit, as instruments and forms write it, becomes a quantity:
// {"value":"20,5","unit":"°C"}. The error is an [*Error] for an ambiguous number, or a unit that
// looks like the rest of a number.
func (m *Metadata) ReadQuantities(before Metadata) error {
	read, err := readGroupQuantities(m.Properties, before.Properties, Root+"."+properties)
	if err == nil {
		m.Properties = read
	}
	return err
}

func readGroupQuantities(now, before Group, field string) (Group, error) {
	for _, p := range now {
		was, ok := before.Get(p.Name)
		if ok && was.Equal(p.Value) {
			continue
		}
		v, err := p.Value.readQuantities(was, field+"."+shorten(p.Name))
		if err != nil {
			return now, err
		}
		now = now.With(p.Name, v)
	}
	return now, nil
}

// readQuantities converts the quantities in a value that differs from before.
func (v Value) readQuantities(before Value, field string) (_ Value, err error) {
	switch v.form {
	case Quantity:
		if units.Continues(v.unit) {
			return v, &Error{field + ".unit", fmt.Sprintf("must be a unit; after the number %s, %q looks like the rest of a number", v.text, v.unit)}
		}
	case List:
		v.list = slices.Clone(v.list)
		for i, element := range v.list {
			if slices.ContainsFunc(before.list, element.Equal) {
				continue
			}
			if v.list[i], err = element.readQuantities(Value{}, field+"."+strconv.Itoa(i)); err != nil {
				return v, err
			}
		}
	case Properties:
		number, unit, ok := v.spelled()
		if !ok {
			v.group, err = readGroupQuantities(v.group, before.group, field)
			return v, err
		}
		q, err := units.Read(number, units.DecimalPoint)
		if wrong, is := errors.AsType[*units.Error](err); is && wrong.Ambiguous {
			return v, &Error{field + ".value", "must be a number; " + wrong.Error()}
		}
		if err == nil && q.Unit == "" {
			return QuantityOf(Number(q.Number), unit).readQuantities(before, field)
		}
	}
	return v, nil
}

// spelled returns the members of a group that has exactly the strings value and unit.
func (v Value) spelled() (number, unit string, ok bool) {
	value, first := v.group.Get("value")
	of, second := v.group.Get("unit")
	return value.text, of.text, first && second && len(v.group) == 2 && value.form == Text && of.form == Text && of.text != ""
}
