// What both suites of Go share: each case prints one line of JSON with its name, and its result or its error.
//
// The first argument is the connection URI, the second `direct`, `unpooled` or `pooled`.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

var uri, mode = os.Args[1], os.Args[2]

type list []interface{}

// Runs one case. One that needs a session of its own does not run through the pooler, which shares sessions.
func report(name string, needsSession bool, work func() (interface{}, error), describe func(error) interface{}) {
	if needsSession && mode == "pooled" {
		return
	}
	line := map[string]interface{}{}
	result, err := work()
	if err != nil {
		line["error"] = describe(err)
	} else {
		line["result"] = printable(result)
	}
	outcome, err := json.Marshal(line)
	must(err)
	quoted, err := json.Marshal(name)
	must(err)
	fmt.Printf("{\"case\":%s,%s\n", quoted, outcome[1:])
}

// What JSON cannot print, as text with its type, so that two types never print the same.
func printable(value interface{}) interface{} {
	switch v := value.(type) {
	case list:
		printed := make(list, len(v))
		for n, inner := range v {
			printed[n] = printable(inner)
		}
		return printed
	case nil, bool, string, int, int16, int32, int64, map[string]interface{}:
		return v
	case []byte:
		if len(v) > 1000 {
			return map[string]interface{}{"bytes": len(v)}
		}
		return map[string]interface{}{"bytes": hex.EncodeToString(v)}
	case time.Time:
		return map[string]interface{}{"time": v.UTC().Format(time.RFC3339Nano)}
	}
	return map[string]interface{}{fmt.Sprintf("%T", value): fmt.Sprintf("%v", value)}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
