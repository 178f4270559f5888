// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.report.Json.OrEmpty;
import io.kiln.report.Json.OrNull;
import io.kiln.artifact.ModelMetadata;
import java.util.List;

/**
 * A tensor in {@code report.json}.
 *
 * @param scale of its quantization; null if it is not quantized, or has a scale for each channel
 * @param zeroPoint likewise
 * @param labels what its values, or its elements along the last dimension, stand for; absent if unknown
 */
public record ReportedTensor(
        String name,
        String dtype,
        List<Integer> shape,

        @OrNull Float scale,

        @OrNull Integer zeroPoint,

        @OrEmpty List<String> labels) {
    public ReportedTensor {
        labels = labels == null ? List.of() : List.copyOf(labels);
        shape = List.copyOf(shape);
    }

    public static ReportedTensor of(ModelMetadata.TensorInfo info) {
        boolean isQuantized = info.scale() != 0;
        return new ReportedTensor(
                info.name(),
                info.dtype().text(),
                info.shape(),
                isQuantized ? info.scale() : null,
                isQuantized ? info.zeroPoint() : null,
                info.labels());
    }
}
