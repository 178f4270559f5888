// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import io.kiln.frontend.onnx.operator.NodeContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The geometry of a transposed convolution.
 *
 * @param kernel size of the window
 * @param strides from the result of one element to that of the next
 * @param dilations from one tap to the next
 * @param begins elements cut from the beginning of the result; added if negative
 * @param ends elements cut from its end
 */
record TransposedSpatial(
        List<Integer> kernel,
        List<Integer> strides,
        List<Integer> dilations,
        List<Integer> begins,
        List<Integer> ends) {
    TransposedSpatial {
        kernel = List.copyOf(kernel);
        strides = List.copyOf(strides);
        dilations = List.copyOf(dilations);
        begins = List.copyOf(begins);
        ends = List.copyOf(ends);
    }

    /**
     * The attributes; {@code output_shape} and {@code auto_pad} take precedence over {@code pads}. {@code SAME_UPPER} and {@code SAME_LOWER} give
     * the input's size times the stride, but as in ONNX Runtime never more than the taps reach, where the standard adds zeros.
     */
    static TransposedSpatial of(NodeContext node, List<Integer> kernel, List<Integer> sizes) {
        int rank = sizes.size();
        List<Integer> strides = Spatial.list(node, "strides", rank, 1);
        List<Integer> dilations = Spatial.list(node, "dilations", rank, 1);
        List<Integer> pads = Spatial.list(node, "pads", 2 * rank, 0);
        List<Integer> more = Spatial.list(node, "output_padding", rank, 0);
        node.require(
                Collections.min(strides) > 0 && Collections.min(dilations) > 0 && Collections.min(more) >= 0,
                "its strides and dilations are " + strides + " and " + dilations,
                "numbers above 0");
        String auto = node.attributes().text("auto_pad", "NOTSET");
        Optional<List<Long>> stated = node.attributes().wholes("output_shape");
        boolean isSame = auto.startsWith("SAME_");
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            int whole = strides.get(i) * (sizes.get(i) - 1) + (kernel.get(i) - 1) * dilations.get(i) + 1;
            if (stated.isPresent() || isSame) {
                List<Long> shape = stated.orElse(List.of());
                int out = stated.isPresent()
                        ? shape.get(shape.size() - rank + i).intValue()
                        : Math.min(whole + more.get(i), sizes.get(i) * strides.get(i));
                int total = whole + more.get(i) - out;
                int half = Math.floorDiv(total, 2);
                int begin = total < 0 ? 0 : auto.equals("SAME_UPPER") ? half : total - half;
                begins.add(begin);
                ends.add(total - begin - more.get(i));
            } else {
                boolean isValid = auto.equals("VALID");
                begins.add(isValid ? 0 : pads.get(i));
                ends.add((isValid ? 0 : pads.get(rank + i)) - more.get(i));
            }
            node.require(whole - begins.get(i) - ends.get(i) > 0, "its padding removes everything", "something left");
        }
        return new TransposedSpatial(kernel, strides, dilations, begins, ends);
    }

    int rank() {
        return kernel.size();
    }
}
