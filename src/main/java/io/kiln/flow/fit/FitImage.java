// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import io.kiln.firmware.image.Measurement;
import io.kiln.flow.verify.ImageProfile;
import io.kiln.report.FrontReport;
import io.kiln.report.ProfileReport;
import io.kiln.tuning.fit.FitTable.FitCost;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * A measured image.
 *
 * @param memory what it takes
 * @param profile what an inference costs
 * @param parts functions and tables of each operator with their bytes in flash
 * @param kernels names of those parts that several operators may share
 * @param needs bytes of the workspace that are alive while an operator runs
 */
record FitImage(
        Measurement memory,
        ImageProfile profile,
        Map<String, SortedMap<String, Long>> parts,
        Set<String> kernels,
        Map<String, Long> needs) {
    FitImage {
        parts = Map.copyOf(parts);
        kernels = Set.copyOf(kernels);
        needs = Map.copyOf(needs);
    }

    /** The operators with what they cost, in execution order. */
    List<ProfileReport.Operator> operators() {
        return profile.operators();
    }

    /** What {@link #cost} counts as cycles. */
    String currency() {
        return profile.cycles()
                .map(report -> report.memory() == null ? FrontReport.ZERO_WAIT_CYCLES : FrontReport.BOARD_CYCLES)
                .orElse(FrontReport.INSTRUCTIONS);
    }

    /** Cycles or, if no timings are known of the core, instructions of an operator. */
    long cycles(String operator) {
        return operators().stream()
                .filter(one -> one.name().equals(operator))
                .mapToLong(FitImage::cycles)
                .sum();
    }

    private static long cycles(ProfileReport.Operator operator) {
        if (operator.boardCycles() != null) {
            return operator.boardCycles().expected();
        }
        return operator.estimatedCycles() != null ? operator.estimatedCycles().expected() : operator.instructions();
    }

    FitCost cost() {
        long cycles = profile.cyclesExpected().orElse(profile.instructions());
        return new FitCost(cycles, memory.flash().total(), memory.ram().total());
    }
}
