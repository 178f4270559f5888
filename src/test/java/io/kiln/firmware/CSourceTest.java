// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.firmware.FirmwareCompiler.Compilation.DepFile;
import io.kiln.firmware.FirmwareLinker.RoomyScripts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CSourceTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "int main(void) {}",
                "int main(int argc, char** argv)\n{\n}",
                "void main() { }",
                "_Noreturn void main(void) { for (;;) {} }",
                "int __attribute__((noreturn)) f(void);\nint main(void) { return 0; }",
                "/* app */ int /* here */ main ( void ) // go\n {",
                "extern int main(void);\nint main(void) { return 1; }",
                "int32_t main(void) { }",
                "char quote = '\"'; int main(void) { return '\"'; }"
            })
    void aDefinitionOfMainIsFound(String source) {
        assertThat(MainFunction.isDefinedIn("a.c", source)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "int main(void);",
                "// int main(void) {\n",
                "/* int main(void) { } */",
                "const char* s = \"int main(void) {\";",
                "int domain(void) { return main_loop(); }",
                "int main_loop(void) { }",
                "int x = 1; void f(void) { main(); }",
                ""
            })
    void whatOnlyLooksLikeMainIsNot(String source) {
        assertThat(MainFunction.isDefinedIn("a.c", source)).isFalse();
    }

    @Test
    void mainIsFoundInAssemblerToo() {
        assertThat(MainFunction.isDefinedIn("a.S", "  .globl main\nmain: /* here */\n  bx lr\n"))
                .isTrue();
        assertThat(MainFunction.isDefinedIn("a.s", "domain:\n  bl main\n")).isFalse();
    }

    @Test
    void textOfAnyLengthIsScanned() {
        String table = "const char* t = \"" + "\\\\x00".repeat(100_000) + "\";\n/*" + "*".repeat(100_000) + "*/";
        assertThat(MainFunction.isDefinedIn("a.c", table + "\nint main(void) {}"))
                .isTrue();
        assertThat(MainFunction.isDefinedIn("a.c", table)).isFalse();
        assertThat(SourceText.withoutComments("a \"/*\" b // c\n'd'")).isEqualTo("a \"/*\" b  \n'd'");
        assertThat(SourceText.withoutComments("it isn't /* open")).isEqualTo("it isn't  ");
    }

    @Test
    void prerequisitesAreReadAsMakeReadsThem() {
        assertThat(DepFile.prerequisites("object: a.c \\\n  b\\ c/d.h /usr/x$$y.h \\\r\n  e\\#f.h\n\nb.h:\n"))
                .containsExactly("a.c", "b c/d.h", "/usr/x$y.h", "e#f.h");
        assertThat(DepFile.prerequisites("object: C:\\x\\a.c")).containsExactly("C:\\x\\a.c");
        assertThat(DepFile.prerequisites("")).isEmpty();
    }

    @Test
    void everyMemoryOfALinkerScriptIsEnlargedAndNothingElse() {
        String script = """
                LENGTH = 3;
                MEMORY
                {
                  A (rx) : ORIGIN = 0x0, LENGTH = 1M - 16K /* boot */
                  B (rw) : org = 0x20000000, len = SIZE
                  C : o = 1, l = 4 }
                SECTIONS { . = LENGTH(A); }
                """;

        assertThat(RoomyScripts.enlarge(script)).isEqualTo("""
                LENGTH = 3;
                MEMORY
                {
                  A (rx) : ORIGIN = 0x0, LENGTH = (1M - 16K) + 64M/* boot */
                  B (rw) : org = 0x20000000, len = (SIZE) + 64M
                  C : o = 1, l = (4) + 64M}
                SECTIONS { . = LENGTH(A); }
                """);
    }
}
