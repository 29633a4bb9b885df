package catalog

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

func TestRank(t *testing.T) {
	subjects := []Subject{
		{Name: "list_devices", Qualified: "zwave__list_devices", Description: "Lists what is in the network."},
		{Name: "device", Qualified: "mqtt__device", Description: "One."},
		{Name: "getDevice", Qualified: "zwave__getDevice", Description: "Tells the state of one device."},
		{Name: "set_mode", Qualified: "zwave__set_mode", Title: "Device mode", Parameters: []string{"mode"}},
		{Name: "control", Qualified: "zwave__control", Parameters: []string{"deviceName", "action"}},
		{Name: "describe", Qualified: "x__describe", Description: "Describes the device's rooms. Ünïcode."},
		{Name: "undevised", Qualified: "x__undevised", Description: "nothing"},
		{Name: "search", Qualified: "github__search", Description: "Searches code"},
	}
	for _, test := range []struct{ query, want string }{
		{"device", "device getDevice list_devices set_mode control describe"},
		{"devices", "list_devices device getDevice set_mode control describe"},
		{"zwave device", "getDevice list_devices set_mode control"},
		{"mode", "set_mode"},
		{"action", "control"},
		{"zwave__getdevice", "getDevice"},
		{"ünïcode", "describe"},
		{"github", "search"},
		{"device nothing", ""},
		{"evis", "undevised"},
	} {
		words := strings.Fields(test.query)
		found := slices.DeleteFunc(slices.Clone(subjects), func(s Subject) bool { return Rank(s, words) == 0 })
		slices.SortStableFunc(found, func(a, b Subject) int { return cmp.Compare(Rank(b, words), Rank(a, words)) })
		var names []string
		for _, one := range found {
			names = append(names, one.Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.query, got, test.want)
		}
	}
}
