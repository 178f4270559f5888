// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import io.kiln.toolchain.fence.Refusals.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** C texts with backquotes for quotes, and what the fence refuses of them. */
final class FencedTexts {
    private FencedTexts() {}

    static String inFunction(String code) {
        return "# 1 `a.c`\nint x, *p;\nvoid f(void) {\n" + code + "\n}\n";
    }

    static List<Refusal> board(String text) {
        return refusals(text, Dialect.BOARD);
    }

    static List<Refusal> host(String text) {
        return refusals(text, Dialect.HOST);
    }

    private static List<Refusal> refusals(String text, Dialect dialect) {
        byte[] bytes = text.replace('`', '"').getBytes(StandardCharsets.UTF_8);
        return FencedC.refusals(bytes, dialect, List.of("a.c", "a.h", "include/stdint.h")::contains);
    }
}
