// SPDX-License-Identifier: Apache-2.0

package relaytest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// codeNames are names of code as SDKs and runtimes write them, alone and in the texts around them.
// %W, %w and %_ stand for sensitive words in the styles of types, of variables and of files, %n for
// a number, %h for a hexadecimal digit.
var codeNames = map[string][]string{
	".NET": {
		"Shop.%W, Version=5.%n.0.0, Culture=neutral, PublicKeyToken=%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h%h", "Shop.%W, Version=1.2.3.4, Culture=neutral, PublicKeyToken=null",
		"System.Lazy`1[[Shop.%W, Shop.%W, Version=1.0.0.%n, Culture=neutral, PublicKeyToken=b77a5c561934e089],[System.Int32]]",
		"Shop.%W.%WService+<%WAsync>d__%n.MoveNext()", "async Task<%W> Shop.%W.Handle(%W %w, CancellationToken cancellationToken = default)", "Shop.%WController.set_%W(String value)",
		`   at Shop.%W.%WStore.Find(String %w) in C:\src\%W\%W.cs:line %n`, `/_/src/%W/%W.cs`, "lambda_method%n(Closure , %W )", "Shop.%WException", "Shop.%WException: no such order", "Shop.%W.%WValidator: no such order",
		"The type initializer for 'Shop.%W' threw an exception.", "Could not load file or assembly 'Shop.%W, Version=1.%n.0.0, Culture=neutral, PublicKeyToken=adb9793829ddae60'. The system cannot find the file specified.",
	},
	"Java": {
		"com.shop.%_.%WFilter$$EnhancerBySpringCGLIB$$%h%h%h%h", "at com.shop.%W.doFilter(%WFilter.java:%n)", "com.shop.%WKt$%w$%n.invokeSuspend", "lambda$%w$%n", "%W.java:%n", "com.shop.%W@1f2e3d%n",
		"Caused by: com.shop.%WException: no such order", "io.jsonwebtoken.ExpiredJwtException: JWT expired %n days ago", "jar:file:/app/%_.jar!/BOOT-INF/lib/x.jar!/", "com.shop.%WService: no such order",
		"No qualifying bean of type 'com.shop.%W' available", "Lcom/shop/%W;->%w:Ljava/lang/String;", "java.lang.NoSuchMethodError: com.shop.%W.%w()V", "com.shop.%WClient.%w",
	},
	"Python": {
		"shop.%_.%w", "%WMiddleware.__call__.<locals>.%_", `File "/srv/%_/%_.py", line %n, in %_`, "/srv/%_/%_.py:%n", "'%W' object has no attribute '%w'", "shop.%_.%WError: no such order",
		"cannot import name '%_' from 'shop.%_' (/srv/shop/%_.py)", "%_() missing 1 required positional argument: '%w'", "login(self, %_=None)", "<%W object at 0x7f%h%h%h%h>",
	},
	"JavaScript": {
		"Object.%w.<computed> [as %w]", "webpack:///./src/%_/%_.js", "webpack-internal:///(rsc)/./%_.ts:%n:5", "https://cdn.example/%_.min.js:1:%n", "node:internal/crypto/%_:12:%n", "app:///%_.js:%n", "new %W",
		"%WService.prototype.%w", "    at %W.%w (file:///srv/%_.mjs:%n:5)", "%WError: jwt expired", "Cannot read properties of undefined (reading '%w')", "%w is not a function", "async %W.%w", "?.%w",
		"http://localhost:3000/_next/static/chunks/%_-%h%h%h%h.js", "%w@http://localhost:3000/%_.js:%n:5",
	},
	"Ruby": {
		"Shop::%W::%WController#%w", "app/models/%_.rb:%n:in `%_='", "app/models/%_.rb:%n:in 'Shop::%W#%_'", "%_=", "block (2 levels) in <class:%W>", "#<Shop::%W:0x000055d0c8%h%h%h%h>",
		"undefined method '%_' for an instance of Shop::%W", "Shop::%WError: no such order", "uninitialized constant Shop::%W::%W", "Shop::%W.%_!",
	},
	"Go": {
		"github.com/shop/%_.(*%W).%W", "main.%w.func%n", "/go/pkg/mod/github.com/x/%_@v1.2.3/%_.go:%n", "%_.%W[go.shape.string]", "\t/srv/%_/%_.go:%n +0x1d", "*%_.%W", "dial tcp: lookup %_-db on 10.0.0.2:53: no such host",
		"%_.%WError: no such order", "dial tcp 10.0.0.1:5432: %_-service:5432: connection refused", "main.(*%W).%w-fm",
	},
	"Rust": {
		"shop::%_::%W::%_", "<shop::%W as core::fmt::Display>::fmt", "src/%_.rs:%n:5", "thread 'main' panicked at src/%_.rs:%n:5:\nno such order", "shop::%_::{{closure}}::h%h%h%h%h", "shop::%_::%WError: no such order",
	},
	"PHP": {
		`Shop\%W\%W::%w`, "/srv/%W/%W.php(%n)", `#%n /srv/%W.php(12): Shop\%W->%w()`, `Call to undefined method Shop\%W::%w()`, "{closure:Shop\\%W::%w():%n}", `Shop\%WException: no such order`, "/srv/%_.php:%n",
		`Illuminate\Auth\Middleware\Authenticate:api`, `Undefined property: Shop\%W::$%w`,
	},
	"Dart": {
		"package:shop/%_/%_.dart:%n:5", "_%WState.build.<anonymous closure>", "%WBloc.%w=", "#%n      %WBloc.%w (package:shop/%_.dart:%n:7)", "Instance of '%W'", "package:shop/%_.dart", "%WException: no such order",
	},
	"C++": {
		"shop::%W::%W(std::__1::basic_string<char> const&)", "_ZN4shop5%WEv", "lib%_.so.1 + 0x%h%h%h", "shop::%W::operator=(shop::%W&&)", "std::map<shop::%W, shop::%W>::operator[](shop::%W const&)", `C:\agent\%_.cpp:%n`,
		"(anonymous namespace)::%w", "%W::%w", "/src/%_.cc:%n",
	},
	"Swift, Objective-C": {
		"-[%WController set%W:]", "+[NS%W %wWithData:error:]", "-[%W login:%w:]: unrecognized selector sent to instance 0x%h%h%h%h", "%WManager.%w.getter", "closure #%n in Shop.%W.login(%w:%w:)", "$s4Shop4%WSSvg",
		"Shop.%W.init(value: Swift.String) throws -> Shop.%W", "%W.swift:%n", "Shop/%W.swift:%n: Fatal error", "-[%W %w:]",
	},
}

// words are sensitive words in three styles.
var words = [][3]string{
	{"Auth", "auth", "auth"}, {"Token", "token", "token"}, {"Secret", "secret", "secret"}, {"Password", "password", "password"}, {"Credentials", "credentials", "credentials"},
	{"AuthToken", "authToken", "auth_token"}, {"OAuth2", "oauth2", "oauth2"}, {"ApiKey", "apiKey", "api_key"}, {"PrivateKey", "privateKey", "private_key"}, {"UserPassword", "userPassword", "user_password"},
	{"SecretKey", "secretKey", "secret_key"}, {"Authentication", "authentication", "authentication"}, {"Author", "author", "author"}, {"ClientSecret", "clientSecret", "client_secret"}, {"TokenCache", "tokenCache", "token_cache"},
	{"AuthUser", "authUser", "auth_user"}, {"Passwd", "passwd", "passwd"}, {"AccessToken", "accessToken", "access_token"},
}

var stands = regexp.MustCompile(`%[Ww_nh]`)

// codeName returns a name by a template.
func codeName(random *rand.Rand, template string) string {
	return stands.ReplaceAllStringFunc(template, func(kind string) string {
		switch kind {
		case "%n":
			return fmt.Sprint(1 + random.IntN(900))
		case "%h":
			return fmt.Sprintf("%x", random.IntN(16))
		}
		return words[random.IntN(len(words))][strings.Index("Ww_", kind[1:])]
	})
}

// dialect is a dialect of SQL: the name that SDKs report, its quotes, and its placeholders.
type dialect struct {
	system       string
	open, close  string // around names
	placeholders []string
}

var dialects = map[string]dialect{
	"PostgreSQL": {"postgresql", `"`, `"`, []string{"$1", "%s", "%(%_)s", "$2::uuid", "ANY($1)"}}, "MySQL": {"mysql", "`", "`", []string{"?", "%s"}}, "MariaDB": {"mariadb", "`", "`", []string{"?"}},
	"SQLite": {"sqlite", `"`, `"`, []string{"?", "?1", ":%_", "@%_"}}, "SQL Server": {"mssql", "[", "]", []string{"@P1", "@%_", "@__%_0"}}, "Oracle": {"oracle", `"`, `"`, []string{":1", ":%_"}},
	"Db2": {"db2", `"`, `"`, []string{"?"}}, "Snowflake": {"snowflake", `"`, `"`, []string{"?", ":1", "%s"}}, "BigQuery": {"gcp.bigquery", "`", "`", []string{"@%_", "?"}},
	"ClickHouse": {"clickhouse", "`", "`", []string{"{%_:String}", "?"}}, "Cassandra": {"cassandra", `"`, `"`, []string{"?", ":%_"}}, "CockroachDB": {"cockroachdb", `"`, `"`, []string{"$1", "$2::UUID"}},
	"SQL without a database": {"", `"`, `"`, []string{"?", "%s"}}, "SQL without quotes": {"", "", "", []string{"?", "%s"}},
}

// statements are templates of statements. {} is the name of a table or a column, ? a placeholder, #
// a literal next to a name that is not sensitive.
var statements = []string{
	"SELECT {}.{} FROM {} INNER JOIN {} ON ({}.{} = {}.{}) WHERE {}.{} = ?", "SELECT 1 FROM {} JOIN {} ON {}.{} = {}.{}", "SELECT {}, {} FROM {} WHERE {} = ? AND {} = ? LIMIT 21",
	"UPDATE {} SET {} = ?, {} = ? WHERE {}.{} = ? AND status = #", "INSERT INTO {} ({}, {}, name) VALUES (?, ?, #)", "DELETE FROM {} WHERE {} IN (?, ?) AND {} IS NULL AND name = #",
	"SELECT COUNT(*) AS {} FROM {} WHERE {}.{} = {}.{} AND {} = COALESCE(?, ?)", "WITH {} AS (SELECT {} FROM {} WHERE name = #) SELECT {}.{} FROM {} WHERE {} = (SELECT {} FROM {} WHERE name = #)",
	"SELECT {} FROM {} WHERE {} = LOWER(?) ORDER BY {} DESC", "SELECT * FROM {} AS {} LEFT OUTER JOIN {} ON {}.{}={}.{} WHERE name = # AND {}.id = #", "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
	"CREATE INDEX {} ON {} ({})", "MERGE INTO {} USING {} ON ({}.{} = {}.{}) WHEN MATCHED THEN UPDATE SET {} = {}.{}", "SELECT {} FROM {} WHERE {} = {} AND {} = NULL", "UPDATE {} SET {} = DEFAULT, {} = {} + 1 WHERE {} = {}",
	"EXPLAIN SELECT {}::text FROM {} t WHERE t.{} = t.{} AND {}.{} > ?",
}

// statement returns a statement in a dialect.
func (d dialect) statement(random *rand.Rand) string {
	var out strings.Builder
	template := statements[random.IntN(len(statements))]
	for len(template) > 0 {
		switch {
		case strings.HasPrefix(template, "{}"):
			out.WriteString(d.open + words[random.IntN(len(words))][2] + []string{"", "", "_id", "s", "_hash"}[random.IntN(5)] + d.close)
			template = template[2:]
			continue
		case template[0] == '?':
			out.WriteString(codeName(random, strings.ReplaceAll(d.placeholders[random.IntN(len(d.placeholders))], "%s", "\x1a")))
		case template[0] == '#':
			out.WriteString([]string{"'x'", "42", "'it''s'", "-1.5", "NULL", "'a''b'"}[random.IntN(6)])
		default:
			out.WriteByte(template[0])
		}
		template = template[1:]
	}
	return strings.ReplaceAll(out.String(), "\x1a", "%s")
}
