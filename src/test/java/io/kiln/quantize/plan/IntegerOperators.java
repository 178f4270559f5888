// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Function;
import io.kiln.quantize.graph.FloatGraph;
import java.util.stream.Stream;

/** Operators to which the quantizer gives integer arithmetic. */
public final class IntegerOperators {
    private IntegerOperators() {}

    /** The names of those in a function. */
    public static Stream<String> of(Function function) {
        return FloatGraph.of(function).nodes().stream()
                .filter(node -> Stream.of(Precision.INT8, Precision.INT16)
                        .anyMatch(precision -> IntegerForms.of(node, precision).isPresent()))
                .flatMap(node -> Stream.concat(
                        Stream.of(node.op().name()),
                        Stream.concat(
                                node.bias().map(any -> "nn.bias_add").stream(),
                                node.clip().map(clip -> clip.name()).stream())));
    }
}
