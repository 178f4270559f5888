// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Operators that derive multipliers from the scales of data and result: the answers tell in which precision they did. */
final class StraddlingScaleCases {
    private static final Set<String> RESCALING = Set.of(
            "ABS_QUANTIZED",
            "ADD",
            "ADD_N_INT8",
            "CUMSUM_INT8",
            "HARD_SWISH_QUANTIZED",
            "LEAKY_RELU",
            "MEAN",
            "QUANTIZE",
            "RELU",
            "RELU6",
            "SQUARED_DIFFERENCE",
            "SUB",
            "SUM");

    static final List<OperatorCases> ALL = Stream.of(
                    UnaryCases.ALL, BinaryCases.ALL, ReductionOperators.ALL, SequenceOperators.ALL)
            .flatMap(List::stream)
            .filter(operator -> RESCALING.contains(operator.name()))
            .map(OperatorCases::withStraddlingScales)
            .toList();

    private StraddlingScaleCases() {}
}
