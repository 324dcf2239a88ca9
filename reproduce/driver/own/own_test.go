package podrace

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
)

// ownTold is what the user's scheduler is, or why there is none.
type ownTold struct {
	Problem string              `json:"problem"`
	Plugins map[string][]string `json:"plugins"` // the user's, with their extension points
	Without []string            `json:"without"` // plugins of the default profile that it does not have
}

// TestOwn makes the user's scheduler on an empty cluster, and writes what it is to the file that PODRACE_OWN names.
func TestOwn(t *testing.T) {
	file := os.Getenv("PODRACE_OWN")
	if file == "" {
		t.Skip("PODRACE_OWN names no file")
	}
	found := ownTold{Plugins: map[string][]string{}}
	defer func() {
		if r := recover(); r != nil && found.Problem == "" && len(found.Plugins) == 0 {
			found.Problem = fmt.Sprint(r)
		}
		text, err := json.Marshal(found)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}()
	for name := range own.plugins() {
		found.Plugins[name] = []string{}
	}
	synctest.Test(t, func(*testing.T) {
		defer func() {
			if r := recover(); r != nil {
				found.Problem = fmt.Sprint(r)
			}
		}()
		w, err := newWorld(&Case{})
		if err != nil {
			found.Problem = err.Error()
			return
		}
		defer w.close()
		points := reflect.ValueOf(w.Waiting.ListPlugins()).Elem()
		for n := range points.NumField() {
			for _, plugin := range lists(points.Field(n)) {
				if found.Plugins[plugin] != nil {
					found.Plugins[plugin] = append(found.Plugins[plugin], points.Type().Field(n).Name)
				}
			}
		}
		found.Without = absent()
	})
}

// lists are the names of the plugins of one extension point.
func lists(set reflect.Value) (names []string) {
	enabled := set.FieldByName("Enabled")
	for n := range lengthOf(enabled) {
		names = append(names, enabled.Index(n).FieldByName("Name").String())
	}
	return names
}

// absent are the plugins of the default profile that the user's profile has disabled, everywhere or at one extension point.
func absent() []string {
	p, err := own.profile()
	if err != nil {
		return nil
	}
	configuration, err := latest.Default()
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	for _, plugin := range configuration.Profiles[0].Plugins.MultiPoint.Enabled {
		found[plugin.Name] = true
	}
	for _, plugin := range p.Plugins.MultiPoint.Enabled {
		delete(found, plugin.Name)
	}
	points := reflect.ValueOf(p.Plugins).Elem()
	for n := range points.NumField() {
		disabled, name := points.Field(n).FieldByName("Disabled"), points.Type().Field(n).Name
		for m := range lengthOf(disabled) {
			if name != "MultiPoint" {
				found[strings.Replace(disabled.Index(m).FieldByName("Name").String(), "*", "the default plugins", 1)+" at "+name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
