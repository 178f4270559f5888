// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.codegen.c.LoopAnswer;
import java.util.Arrays;
import java.util.List;

/**
 * What a run of a lowered operator must compute.
 *
 * @param what runs, for people
 * @param dtype type of the output
 * @param parts of the output's region
 */
public record ExpectedOutput(String what, DType dtype, List<Part> parts) {
    /**
     * A part of the output.
     *
     * @param offset its first byte in the output's region
     * @param content what it must hold
     */
    record Part(int offset, Bytes content) {}

    public ExpectedOutput {
        parts = List.copyOf(parts);
    }

    /** Fails unless the run touched only what it may and its output is as expected; floats may differ by rounding. */
    public void check(LoopAnswer answer) {
        assertThat(answer.failures()).as(what).isEmpty();
        assertThat(answer.outputs()).as(what).isNotEmpty();
        for (Bytes output : answer.outputs()) {
            parts.forEach(part -> check(part, output));
        }
    }

    private void check(Part part, Bytes output) {
        byte[] wanted = part.content().toArray();
        byte[] actual = Arrays.copyOfRange(output.toArray(), part.offset(), part.offset() + wanted.length);
        int first = Arrays.mismatch(actual, wanted);
        if (first < 0) {
            return;
        }
        if (!dtype.isFloat()) {
            fail("%s: byte %d of the output is %d, not %d", what, part.offset() + first, actual[first], wanted[first]);
        }
        for (int i = 0; i < wanted.length; i += Float.BYTES) {
            float value = part.content().buffer().getFloat(i);
            float other = Bytes.wrap(actual).buffer().getFloat(i);
            if (!isClose(other, value)) {
                fail("%s: the output at byte %d is %s, not %s", what, part.offset() + i, other, value);
            }
        }
    }

    private static boolean isClose(float actual, float expected) {
        return Float.isFinite(expected)
                ? Math.abs(actual - expected) <= 1e-5f + 1e-4f * Math.abs(expected)
                : Float.compare(actual, expected) == 0;
    }
}
