// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.report.TuneReport.Sizes;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import io.kiln.tuning.task.Objective.Mix;

/**
 * The cost of a whole image by the objective of a search.
 *
 * @param objective of the search
 */
record ImageCost(Objective objective) {
    boolean inCycles() {
        return objective.metrics().contains(Metric.CYCLES)
                || objective.metrics().contains(Metric.BOARD_CYCLES);
    }

    /** Whether an emulator tells the cost: it does not know a board's time. */
    boolean isMeasured() {
        return !objective.metrics().contains(Metric.TIME);
    }

    /** Whether the cost is the sum of the operators' own. */
    boolean isOfOperators() {
        return objective == Metric.INSTRUCTIONS || objective == Metric.CYCLES || objective == Metric.BOARD_CYCLES;
    }

    /**
     * The cost of an image.
     *
     * @param usual the image to which a mix of quantities is relative
     */
    double of(Sizes image, Sizes usual) {
        if (objective instanceof Mix mix) {
            return mix.weights().entrySet().stream()
                    .mapToDouble(part -> part.getValue()
                            * (quantity(image, part.getKey()) + 1)
                            / (quantity(usual, part.getKey()) + 1))
                    .sum();
        }
        return quantity(image, (Metric) objective);
    }

    private static double quantity(Sizes sizes, Metric metric) {
        return switch (metric) {
            case CYCLES, BOARD_CYCLES -> sizes.cycles();
            case SIZE -> sizes.flash();
            case RAM -> sizes.ram();
            default -> sizes.instructions();
        };
    }
}
