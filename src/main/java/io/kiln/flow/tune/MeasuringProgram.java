// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.PrimFunc;
import io.kiln.tuning.task.LayerTask;
import io.kiln.tuning.task.LayerTask.Example;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The C of the program that calls candidates one after another, each with its layer's example, and says of each how many elements of its
 * answer are wrong. Floats may differ as in {@code kiln:verify}.
 */
final class MeasuringProgram {
    /** Called after each candidate with the number of wrong elements. */
    static final String TOLD = "kiln_tune_told";

    /** Called in the end. */
    static final String DONE = "kiln_tune_done";

    private static final int BYTES_IN_A_LINE = 24;

    private static final String HEAD = """
            /* SPDX-License-Identifier: Apache-2.0 */
            /* Made by kiln:tune: calls candidates one after another and compares their answers. */
            #include <stdint.h>
            #include <string.h>

            void kiln_tune_told(uint32_t wrong);
            void kiln_tune_done(void);

            /* The debugger stops here and reads the argument. */
            __attribute__((noinline)) void kiln_tune_told(uint32_t wrong)
            {
                __asm__ volatile("" : : "r"(wrong) : "memory");
            }

            /* The log of executed blocks ends here. */
            __attribute__((noinline)) void kiln_tune_done(void)
            {
                __asm__ volatile("" : : : "memory");
            }

            static uint32_t wrong_bytes(const uint8_t *actual, const uint8_t *expected, uint32_t n)
            {
                uint32_t wrong = 0;
                for (uint32_t i = 0; i < n; i++) {
                    wrong += actual[i] != expected[i];
                }
                return wrong;
            }

            static uint32_t wrong_floats(const uint8_t *actual, const uint8_t *expected, uint32_t n)
            {
                uint32_t wrong = 0;
                for (uint32_t i = 0; i < n; i += 4) {
                    float a;
                    float e;
                    memcpy(&a, actual + i, 4);
                    memcpy(&e, expected + i, 4);
                    float difference = a > e ? a - e : e - a;
                    float size = e < 0.0f ? -e : e;
                    wrong += !(difference <= 1e-5f + 1e-4f * size);
                }
                return wrong;
            }

            """;

    private final StringBuilder head = new StringBuilder(HEAD);
    private final StringBuilder calls = new StringBuilder();
    private final IdentityHashMap<LayerTask, Integer> tasks = new IdentityHashMap<>();
    private final List<String> functions = new ArrayList<>();
    private long inputBytes = 1;
    private long outputBytes = 1;
    private long scratchBytes = 1;

    /** The names of the functions in the order of their calls. */
    List<String> functions() {
        return List.copyOf(functions);
    }

    /** Adds a call of a function that computes a layer. */
    void add(LayerTask task, Example example, PrimFunc function) {
        int number = tasks.computeIfAbsent(task, t -> data(example));
        functions.add(function.name());
        List<String> types = new ArrayList<>();
        List<String> arguments = new ArrayList<>();
        long scratch = 0;
        for (Buffer buffer : function.buffers()) {
            types.add((buffer.isWritable() ? "" : "const ") + buffer.dtype().cName() + " *");
            if (buffer.scope() == Scope.SCRATCH) {
                arguments.add("(void *)(scratch + " + scratch + ")");
                scratch += (buffer.bytes() + 15) / 16 * 16;
            } else {
                arguments.add(buffer.scope() == Scope.INPUT ? "(const void *)input" : "(void *)output");
            }
        }
        inputBytes = Math.max(inputBytes, example.input().size());
        outputBytes = Math.max(outputBytes, example.answer().size());
        scratchBytes = Math.max(scratchBytes, scratch);
        head.append("int32_t ")
                .append(function.name())
                .append('(')
                .append(String.join(", ", types))
                .append(");\n");
        boolean isFloat = task.op().type().dtype() == DType.FLOAT32;
        calls.append(String.format(
                """
                    memcpy(input, input_%d, sizeof input_%d);
                    memset(output, 0xA5, sizeof answer_%d);
                    (void)%s(%s);
                    kiln_tune_told(%s(output, answer_%d, sizeof answer_%d));
                """,
                number,
                number,
                number,
                function.name(),
                String.join(", ", arguments),
                isFloat ? "wrong_floats" : "wrong_bytes",
                number,
                number));
    }

    private int data(Example example) {
        int number = tasks.size();
        array("input_" + number, example.input());
        array("answer_" + number, example.answer());
        return number;
    }

    private void array(String name, Bytes bytes) {
        head.append("static const uint8_t ").append(name).append("[] = {");
        for (int i = 0; i < bytes.size(); i++) {
            head.append(i % BYTES_IN_A_LINE == 0 ? "\n    " : "")
                    .append(bytes.get(i) & 0xFF)
                    .append(',');
        }
        head.append("\n};\n");
    }

    /** The source file. */
    String text() {
        return head
                + "\n_Alignas(16) static uint8_t input[" + inputBytes + "];\n"
                + "_Alignas(16) static uint8_t output[" + outputBytes + "];\n"
                + "_Alignas(16) static uint8_t scratch[" + scratchBytes + "];\n"
                + "\nint main(void)\n{\n    (void)scratch;\n    (void)wrong_bytes;\n    (void)wrong_floats;\n" + calls
                + "    kiln_tune_done();\n    for (;;) {\n    }\n}\n";
    }
}
