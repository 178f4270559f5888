// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.tflite.SupportedOperators.Support;
import java.util.Map;

/** The layers of convolutional networks, by their codes. */
final class LayerOperators {
    static final Map<Integer, Support> ALL = Map.ofEntries(
            Map.entry(1, new Support(new PoolingImporter(true), 3)),
            Map.entry(3, new Support(new ConvolutionImporter(false), 8)),
            Map.entry(4, new Support(new ConvolutionImporter(true), 7)),
            Map.entry(9, new Support(new FullyConnectedImporter(), 12)),
            Map.entry(17, new Support(new PoolingImporter(false), 3)),
            Map.entry(22, new Support(new ReshapeImporter(), 1)),
            Map.entry(25, new Support(new SoftmaxImporter(), 3)),
            Map.entry(67, new Support(new TransposedConvolutionImporter(), 5)));

    private LayerOperators() {}
}
