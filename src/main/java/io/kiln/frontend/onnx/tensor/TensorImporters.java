// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.tensor;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration;
import io.kiln.ir.Arg;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The table of products of tensors and transforms of signals. */
public final class TensorImporters {
    private static final List<OnnxRegistration> OWN = List.of(
            onnx("Einsum", new EinsumImporter()),
            onnx("Det", new DetImporter()),
            onnx("TfIdfVectorizer", new NgramImporter()),
            onnx("AffineGrid", 20, TensorImporters::grid),
            onnx("MelWeightMatrix", new MelWeightImporter()));

    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = Stream.of(
                    OWN, WindowImporters.ALL, FourierImporters.ALL, OptimizerImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private TensorImporters() {}

    /** The positions of an image's elements, or of a volume's, turned by a matrix for each batch; from -1 to 1 along each axis. */
    private static void grid(NodeContext node) {
        Expressions e = new Expressions(node);
        List<Long> sizes = node.integers(1, "size");
        int axes = sizes.size() - 2;
        node.require(
                (axes == 2 || axes == 3)
                        && sizes.stream().allMatch(size -> size > 0 && size <= Short.MAX_VALUE)
                        && node.shape(0).equals(Shape.of(sizes.get(0).intValue(), axes, axes + 1)),
                "its size is " + sizes + " and its matrices " + node.shape(0).text(),
                "batches, channels and 2 or 3 sizes, and (batches, axes, axes + 1)");
        boolean hasCorners = node.attributes().truth("align_corners", false);
        List<Integer> result = sizes.stream().map(Long::intValue).toList();
        List<Integer> extent = result.subList(2, result.size());
        int places = e.tableOf(new Shape(extent).elements(), 1);
        float[] positions = new float[e.tableOf(places, axes + 1L)];
        for (int i = 0; i < places; i++) {
            int rest = i;
            for (int k = 0; k < axes; k++) {
                int size = extent.get(axes - 1 - k);
                int place = rest % size;
                rest /= size;
                positions[i * (axes + 1) + k] =
                        hasCorners ? (size == 1 ? -1 : 2f * place / (size - 1) - 1) : (2f * place + 1) / size - 1;
            }
            positions[i * (axes + 1) + axes] = 1;
        }
        Arg base = e.broadcast(
                e.reals(positions, Shape.of(1, places, axes + 1)), Shape.of(result.get(0), places, axes + 1));
        Arg turned = e.product(base, e.transpose(node.arg(0), List.of(0, 2, 1)));
        List<Integer> dims = new ArrayList<>(List.of(result.get(0)));
        dims.addAll(extent);
        dims.add(axes);
        node.finish(e.reshape(turned, dims));
    }
}
