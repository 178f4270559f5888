// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import io.kiln.frontend.onnx.operator.OnnxRegistration;
import java.util.List;
import java.util.stream.Stream;

/** Operators for machine learning other than neural networks. */
public final class LearningImporters {
    public static final List<OnnxRegistration> ALL = Stream.of(
                    TreeImporters.ALL,
                    LinearImporters.ALL,
                    SupportVectors.ALL,
                    FeatureImporters.ALL,
                    CategoryImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private LearningImporters() {}
}
