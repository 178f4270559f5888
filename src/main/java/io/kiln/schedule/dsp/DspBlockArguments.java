// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.ArrayList;
import java.util.List;

/**
 * The arguments of a kernel that loops over blocks of four channels, as operands of its assembly: inputs, weights,
 * output, the end of the output and the epilogue's arguments. All but the weights are kept on the stack, the inputs
 * lowest.
 *
 * @param values C expressions, by register
 * @param types their types
 */
record DspBlockArguments(List<String> values, List<String> types) {
    private static final List<String> CLOBBERED = List.of("r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr");

    DspBlockArguments {
        values = List.copyOf(values);
        types = List.copyOf(types);
    }

    /** The arguments of {@code (x, w, out, blocks)} and of an epilogue. */
    static DspBlockArguments of(DspEpilogue epilogue) {
        List<String> values = new ArrayList<>(List.of("x", "w", "out", "out + 4 * blocks"));
        List<String> types = new ArrayList<>(List.of("const int8_t*", "const int32_t*", "int8_t*", "int8_t*"));
        epilogue.parameters().forEach(p -> {
            values.add(p);
            types.add("int32_t");
        });
        return new DspBlockArguments(values, types);
    }

    /** Pushes them onto the stack, after r7 and r11. */
    void push(AsmText asm) {
        asm.line("push {r7, r11}");
        asm.line("push {%s}", AsmText.kept(values.size()));
    }

    /** Pops them, with this many bytes below them, and returns the whole statement. */
    String popped(AsmText asm, int bytes) {
        asm.line("add sp, #%d", bytes + 4 * values.size() - 4);
        asm.line("pop {r7, r11}");
        return asm.statement(values, types, CLOBBERED);
    }
}
