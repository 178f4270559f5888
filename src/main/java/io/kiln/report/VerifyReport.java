// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.kiln.report.Json.OrEmpty;
import java.util.List;
import java.util.Optional;

/**
 * Content of {@code verify.json}: comparison of the image's outputs with those of the reference interpreter.
 *
 * @param board the board that the image was built for
 * @param ranOn where it ran: the emulated machine, the stand-in board, this computer, or the board itself with its
 * probe and port
 * @param seed seed of the random cases
 * @param cases one entry for each case and model
 * @param bitExact whether every output byte was equal
 * @param passed whether every case is within the tolerance
 * @param tolerance allowed difference of float outputs; integer outputs must be equal
 * @param failure why it did not pass, for people; empty, and omitted from the file, if it passed
 */
public record VerifyReport(
        String board,
        String ranOn,
        long seed,
        List<Case> cases,
        boolean bitExact,
        boolean passed,
        Tolerance tolerance,

        @OrEmpty String failure) {
    public VerifyReport {
        cases = List.copyOf(cases);
        failure = Optional.ofNullable(failure).orElse("");
    }

    /** A report of a failure before any case was compared. */
    public static VerifyReport failed(String board, String ranOn, long seed, String failure) {
        return new VerifyReport(board, ranOn, seed, List.of(), false, false, Tolerance.NONE, failure);
    }

    /**
     * One inference.
     *
     * @param name {@code vector_<k>} or {@code random_<k>}, after the model's name and a slash if there are several
     *     models; {@code own_program} for the project's own program, which was booted and watched
     * @param outputs number of output values compared
     * @param mismatches number of wrong values: not equal (integer) or outside the tolerance (float)
     * @param maxAbsDiff largest absolute difference
     * @param first the first wrong value, for people; empty, and omitted from the file, if there is none
     */
    public record Case(
            String name,
            long outputs,
            long mismatches,
            double maxAbsDiff,

            @OrEmpty String first) {
        private static final String PROGRAM = "own_program";

        public Case {
            first = Optional.ofNullable(first).orElse("");
        }

        /** A case of which no wrong value is known. */
        public Case(String name, long outputs, long mismatches, double maxAbsDiff) {
            this(name, outputs, mismatches, maxAbsDiff, "");
        }

        /** The case of the project's own program, which was booted and watched; its only output is whether it ran without error. */
        public static Case ofProgram(boolean isFine) {
            return new Case(PROGRAM, 1, isFine ? 0 : 1, 0);
        }

        /** Whether this is the project's own program rather than an inference. */
        @JsonIgnore
        public boolean isProgram() {
            return name.equals(PROGRAM);
        }
    }

    /** How far an actual value may be from the expected one: {@code absolute + relative * |expected|}; both are 0 for integer models. */
    public record Tolerance(double absolute, double relative) {
        /** No tolerance: values must be equal. */
        public static final Tolerance NONE = new Tolerance(0, 0);
        /** The tolerance for float models. */
        public static final Tolerance FLOAT = new Tolerance(1e-5, 1e-4);

        /** Whether a value is close enough to the expected one; NaN matches NaN. */
        public boolean accepts(double actual, double expected) {
            if (Double.isNaN(expected) || Double.isInfinite(expected)) {
                return Double.compare(actual, expected) == 0;
            }
            return Math.abs(actual - expected) <= absolute + relative * Math.abs(expected);
        }
    }

    /** Number of cases with a mismatch. */
    @JsonIgnore
    public long failures() {
        return cases.stream().filter(c -> c.mismatches() > 0).count();
    }
}
