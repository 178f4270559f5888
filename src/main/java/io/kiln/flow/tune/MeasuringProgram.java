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
import java.util.Locale;

/**
 * The C of the program that calls candidates one after another, each with its layer's example, and says of each how many elements of its
 * answer are wrong: to a debugger, or on the board's console. Floats may differ as in {@code kiln:verify}.
 */
final class MeasuringProgram {
    /** Function that the program calls after each candidate, with the number of wrong elements. */
    static final String TOLD = "kiln_tune_told";

    /** Function that the program calls in the end. */
    static final String DONE = "kiln_tune_done";

    /**
     * The word that begins a line with the numbers of a candidate on a board: candidate, wrong elements, calls, ticks of all calls,
     * and ticks of a second.
     */
    static final String SAID = "kiln-tune";

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

    /**
     * The program's functions on a board. Calls take a millisecond together, so that a coarse timer is good enough. It says
     * numbers; doubles would need a library.
     */
    private static final String TIMED = """
        #include <kiln_console.h>
        #include <kiln_counter.h>

        static void say_number(uint64_t number)
        {
            char digits[21];
            char *end = digits + sizeof digits - 1;
            *end = '\\0';
            do {
                *--end = (char)('0' + (uint32_t)(number % 10u));
                number /= 10u;
            } while (number != 0u);
            kiln_console_text(" ");
            kiln_console_text(end);
        }

        static void say(uint32_t candidate, uint32_t wrong, uint32_t calls, uint64_t ticks)
        {
            kiln_console_text("kiln-tune");
            say_number(candidate);
            say_number(wrong);
            say_number(calls);
            say_number(ticks);
            say_number(kiln_counter_hertz());
            kiln_console_text("\\n");
        }

        #define TIMED(calls, ticks, call) \\
            do { \\
                calls *= 2u; \\
                ticks = 0; \\
                kiln_counter_start(); \\
                for (uint32_t i = 0; i < calls; i++) { \\
                    call; \\
                } \\
                (void)kiln_counter_stop(&ticks); \\
            } while (calls < 4096u && ticks * 1000u < kiln_counter_hertz())

        """;

    private final boolean isTimed;
    private final StringBuilder head = new StringBuilder(HEAD);
    private final StringBuilder calls = new StringBuilder();
    private final IdentityHashMap<LayerTask, Integer> tasks = new IdentityHashMap<>();
    private int candidates;
    private long inputBytes = 1;
    private long outputBytes = 1;
    private long scratchBytes = 1;

    /** @param isTimed whether it measures the time of each call by the board's timer, and says it on the console */
    MeasuringProgram(boolean isTimed) {
        this.isTimed = isTimed;
        head.append(isTimed ? TIMED : "");
    }

    /** Adds a call of a function that computes a layer. */
    void add(LayerTask task, Example example, PrimFunc function) {
        int number = tasks.computeIfAbsent(task, t -> data(example));
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
        String call = "(void)" + function.name() + "(" + String.join(", ", arguments) + ")";
        String wrong = (isFloat ? "wrong_floats" : "wrong_bytes") + "(output, answer_" + number + ", sizeof answer_"
                + number + ")";
        calls.append(String.format(Locale.ROOT, """
                memcpy(input, input_%d, sizeof input_%d);
                memset(output, 0xA5, sizeof answer_%d);
            """, number, number, number));
        calls.append(
                isTimed
                        ? "    times = 1;\n    TIMED(times, ticks, " + call + ");\n    say(" + candidates + ", " + wrong
                                + ", times, ticks);\n"
                        : "    " + call + ";\n    " + TOLD + "(" + wrong + ");\n");
        candidates++;
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

    String text() {
        return head
                + "\n_Alignas(16) static uint8_t input[" + inputBytes + "];\n"
                + "_Alignas(16) static uint8_t output[" + outputBytes + "];\n"
                + "_Alignas(16) static uint8_t scratch[" + scratchBytes + "];\n"
                + "\nint main(void)\n{\n    (void)scratch;\n    (void)wrong_bytes;\n    (void)wrong_floats;\n"
                + (isTimed ? "    uint32_t times;\n    uint64_t ticks;\n" : "") + calls
                + "    kiln_tune_done();\n    for (;;) {\n    }\n}\n";
    }
}
