// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlainIncludesTest {
    @Test
    void plainIncludesPass() {
        assertThat(
                        PlainIncludes.refusals(
                                "a.c",
                                "#include <stdint.h>\r\n#  include \"tvmgen_a.h\" // types\n#ifdef __has_include\n#endif\nint a = b ? c : d; /* why ?? */\n"))
                .isEmpty();
    }

    /** Other spellings of a directive, which some compilers read as one. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "#inc??/\nlude \"/etc/passwd\"\n",
                "??=include \"/etc/passwd\"\n",
                "#inc\\\nlude \"/etc/passwd\"\n",
                "#inc\\  \nlude \"/etc/passwd\"\n",
                "#inc\\\r\nlude \"/etc/passwd\"\n",
                "%:include \"/etc/passwd\"\n",
                "#/**/include \"/etc/passwd\"\n",
                "#/*\n*/include \"/etc/passwd\"\n",
                "/* ??/\n*/ #include \"/etc/passwd\"\n",
                "\u00ef\u00bb\u00bf#include \"/etc/passwd\"\n",
                "#include FILE\n",
                "#include \"../secret.h\"\n",
                "#include_next <stdint.h>\n",
                "#import <stdint.h>\n",
                "#embed \"/etc/passwd\"\n",
                "#pragma GCC dependency \"/etc/passwd\"\n",
                "#if __has_include__(\"/etc/passwd\")\n#endif\n",
                "#\finclude \"/etc/passwd\"\n",
                "#\u000binclude \"/etc/passwd\"\n",
                "int a;\r#include \"/etc/passwd\"\n",
                "#inc\u0000lude \"/etc/passwd\"\n",
                "char* a = R\"x(\n)x\";\n"
            })
    void everyOtherSpellingIsRefused(String text) {
        assertThat(PlainIncludes.refusals("a.c", text)).isNotEmpty();
    }
}
