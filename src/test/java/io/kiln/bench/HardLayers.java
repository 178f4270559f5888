// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.bench.HardLayer.Image;
import io.kiln.bench.HardLayer.Kind;
import io.kiln.bench.HardLayer.Taps;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Regular layers, and layers that are hard on purpose: unprovable scales, prime channels, odd pixels, one-row images, dilations, products
 * of two inputs, int16 data.
 */
final class HardLayers {
    /** Name of the model that they are. */
    static final String MODEL = "hard";

    private static final Taps POINT = Taps.of(1);
    private static final Taps SQUARE = Taps.of(3);

    /** All of them; a layer's regular one, of the same kind and about the same size, is before it. */
    static final List<HardLayer> ALL = List.of(
            conv("square", "square", new Image(8, 8, 32), 32, SQUARE, 4e-4),
            conv("square_deep", "square", new Image(5, 5, 77), 41, Taps.of(3), 3e-4),
            conv("square_prime", "square", new Image(11, 7, 23), 29, SQUARE, 5e-4),
            conv("square_left", "square", new Image(8, 8, 32), 32, SQUARE, 1.4),
            conv("square_strided", "square", new Image(13, 11, 24), 19, SQUARE.strided(2), 5e-4),
            conv("square_dilated", "square", new Image(9, 9, 24), 24, SQUARE.dilated(2), 5e-4),
            conv("square_few", "square_few", new Image(8, 8, 32), 4, SQUARE, 4e-4),
            conv("square_to_three", "square_few", new Image(9, 7, 29), 3, SQUARE, 4e-4),
            conv("square_one", "square_one", new Image(8, 8, 32), 1, SQUARE, 4e-4),
            conv("square_to_one", "square_one", new Image(9, 9, 31), 1, SQUARE, 4e-4),
            conv("row", "square", new Image(1, 37, 32), 32, new Taps(1, 5, 1, 1, true), 4e-4),
            conv("row_dilated", "square", new Image(1, 43, 31), 32, new Taps(1, 3, 1, 4, true), 4e-4),
            conv("point", "point", new Image(8, 8, 64), 64, POINT, 8e-4),
            conv("point_prime", "point", new Image(7, 7, 61), 67, POINT, 8e-4),
            conv("point_left", "point", new Image(8, 8, 64), 64, POINT, 0.9),
            conv("point_strided", "point", new Image(9, 9, 53), 47, POINT.strided(2), 8e-4),
            conv("point_single", "point", new Image(1, 1, 128), 96, POINT, 5e-4),
            conv("first", "first", new Image(16, 16, 3), 16, SQUARE.strided(2), 1e-3),
            conv("first_one", "first", new Image(17, 15, 1), 8, Taps.of(5), 1e-3),
            conv("first_pair", "first_pair", new Image(16, 16, 2), 16, SQUARE, 1e-3),
            conv("first_two", "first_pair", new Image(15, 15, 2), 13, SQUARE, 1e-3),
            conv("first_four", "first", new Image(17, 17, 4), 11, SQUARE.strided(2), 1e-3),
            conv("first_three", "first", new Image(17, 17, 3), 11, SQUARE.strided(2), 1e-3),
            depthwise("depth", "depth", new Image(12, 12, 32), 1, SQUARE, 2e-3),
            depthwise("depth_prime", "depth", new Image(11, 13, 37), 1, SQUARE, 2e-3),
            depthwise("depth_left", "depth", new Image(12, 12, 32), 1, SQUARE, 1.2),
            depthwise("depth_dilated", "depth", new Image(11, 11, 24), 1, SQUARE.dilated(2), 2e-3),
            depthwise("depth_halved", "depth_halved", new Image(12, 12, 24), 1, SQUARE.strided(2), 2e-3),
            depthwise("depth_strided", "depth_halved", new Image(13, 13, 24), 1, SQUARE.strided(3), 2e-3),
            depthwise("depth_five", "depth", new Image(11, 11, 24), 1, Taps.of(5), 1e-3),
            depthwise("depth_seven", "depth", new Image(9, 9, 17), 1, Taps.of(7), 1e-3),
            depthwise("depth_small", "depth_small", new Image(12, 12, 4), 1, SQUARE, 2e-3),
            depthwise("depth_few", "depth_small", new Image(13, 13, 3), 1, SQUARE, 2e-3),
            depthwise("depth_twice", "depth", new Image(11, 11, 13), 2, SQUARE, 2e-3),
            depthwise("depth_row", "depth", new Image(1, 61, 24), 1, new Taps(1, 9, 1, 1, true), 2e-3),
            depthwise("depth_of_one", "first", new Image(15, 13, 1), 8, Taps.of(5), 1e-3),
            depthwise16("depth16", new Image(12, 12, 32), SQUARE),
            depthwise16("depth16_prime", new Image(11, 13, 37), SQUARE),
            depthwise16("depth16_halved", new Image(15, 15, 24), SQUARE.strided(2)),
            depthwise16("depth16_dilated", new Image(11, 11, 24), SQUARE.dilated(2)),
            depthwise16("depth16_five", new Image(11, 11, 24), Taps.of(5)),
            depthwise16("depth16_seven", new Image(9, 9, 17), Taps.of(7)),
            dense("dense", "dense", 1, 256, 64, 8e-4),
            dense("dense_prime", "dense", 1, 251, 67, 8e-4),
            dense("dense_batch", "dense", 3, 199, 31, 8e-4),
            dense("dense_left", "dense", 1, 256, 64, 0.7),
            dense("dense_small", "dense_small", 1, 256, 4, 8e-4),
            dense("dense_few", "dense_small", 1, 253, 3, 8e-4),
            product("product", "product", Kind.PRODUCT, new Image(32, 2, 32), 32),
            product("product_as_is", "product", Kind.PRODUCT_AS_IS, new Image(32, 2, 32), 32),
            product("product_prime", "product", Kind.PRODUCT, new Image(37, 1, 53), 29),
            product("product_prime_as_is", "product", Kind.PRODUCT_AS_IS, new Image(41, 1, 43), 37),
            product("product16", "product16", Kind.PRODUCT_INT16, new Image(32, 2, 32), 32),
            product("product16_prime", "product16", Kind.PRODUCT_INT16, new Image(37, 1, 53), 29));

    private HardLayers() {}

    /** The model of all layers. */
    static TfliteModelBuilder model() {
        TfliteModelBuilder model = new TfliteModelBuilder();
        List<HardLayer.Ends> ends = ALL.stream().map(layer -> layer.add(model)).toList();
        return model.inputs(ends.stream()
                        .flatMap(e -> e.in().stream())
                        .mapToInt(i -> i)
                        .toArray())
                .outputs(ends.stream().mapToInt(HardLayer.Ends::out).toArray());
    }

    /** Writes the model's file, an input and what the reference interpreter answers; always the same bytes. */
    static Path write(Path folder) {
        Function function = model().read(MODEL);
        List<Bytes> inputs = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            inputs.add(RandomOperators.input(parameter.type(), inputs.size()));
        }
        Path file = folder.resolve("model.tflite");
        WholeFiles.write(file, model().build());
        WholeFiles.write(folder.resolve("input_0.bin"), concatenated(inputs));
        WholeFiles.write(folder.resolve("output_0.bin"), concatenated(Interpreter.run(function, inputs)));
        return file;
    }

    private static byte[] concatenated(List<Bytes> tensors) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        tensors.forEach(tensor -> all.writeBytes(tensor.toArray()));
        return all.toByteArray();
    }

    private static HardLayer conv(String name, String regular, Image input, int channels, Taps window, double scale) {
        return new HardLayer(name, regular, Kind.CONVOLUTION, input, channels, window, scale);
    }

    private static HardLayer depthwise(
            String name, String regular, Image input, int multiplier, Taps window, double scale) {
        return new HardLayer(name, regular, Kind.DEPTHWISE, input, multiplier * input.channels(), window, scale);
    }

    private static HardLayer product(String name, String regular, Kind kind, Image input, int columns) {
        return new HardLayer(name, regular, kind, input, columns, POINT, 4e-3);
    }

    /** Beside the layer "depth16". */
    private static HardLayer depthwise16(String name, Image input, Taps window) {
        return new HardLayer(name, "depth16", Kind.DEPTHWISE_INT16, input, input.channels(), window, 2e-3);
    }

    private static HardLayer dense(String name, String regular, int batch, int inputs, int units, double scale) {
        return new HardLayer(name, regular, Kind.DENSE, new Image(batch, 1, inputs), units, POINT, scale);
    }
}
