// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static io.kiln.frontend.onnx.model.ElementType.INT8;
import static io.kiln.frontend.onnx.model.ElementType.UINT8;

import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.model.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws quantized images that are resized by interpolation, in all ways of placing elements. */
public final class RandomResizes {
    private static final int[] VERSIONS = {10, 11, 13, 18, 19};
    private static final int CROPPING = 11;
    private static final int SYMMETRIC = 19;
    private static final List<String> PLACES = List.of(
            "half_pixel",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
            "tf_crop_and_resize",
            "half_pixel_symmetric");

    private final Random random;
    private final ElementType type;
    private final int version;
    private final ModelBuilder model;
    private final boolean isPowerOfTwo;

    private RandomResizes(long seed) {
        this.random = new Random(seed);
        this.type = random.nextBoolean() ? UINT8 : INT8;
        this.version = VERSIONS[random.nextInt(VERSIONS.length)];
        this.model = new ModelBuilder(version);
        this.isPowerOfTwo = random.nextInt(4) == 0;
    }

    /** The model of a number; ways of placing elements take turns. */
    public static RandomModels.Model draw(long seed) {
        RandomResizes drawn = new RandomResizes(seed);
        String places = PLACES.get((int) (seed % PLACES.size()));
        drawn.build(places);
        return new RandomModels.Model("Resize " + places + " of version " + drawn.version, drawn.model.build());
    }

    private float scale() {
        double scale = Math.exp(-5 + 3 * random.nextDouble());
        return (float) (isPowerOfTwo ? Math.scalb(1.0, Math.getExponent(scale)) : scale);
    }

    private List<String> parameters(float scale) {
        int zero = random.nextInt(256) - 128;
        return List.of(
                model.floats(true, scale), model.bytes(type, true, type == UINT8 ? zero - Byte.MIN_VALUE : zero));
    }

    private void build(String places) {
        boolean isImage = random.nextInt(4) > 0;
        int height = 1 + random.nextInt(9);
        int width = 1 + random.nextInt(9);
        List<Integer> dims =
                isImage ? List.of(1 + random.nextInt(2), 1 + random.nextInt(3), height, width) : List.of(height, width);
        float from = scale();
        float to = random.nextInt(3) > 0 ? from : scale();
        List<String> inputs = new ArrayList<>(List.of(model.input("x", type, dims)));
        inputs.addAll(parameters(from));
        String real = model.node("DequantizeLinear", inputs, "real", Map.of());
        List<String> resize = new ArrayList<>(List.of(real));
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("mode", "linear");
        if (version >= CROPPING) {
            boolean isKnown = version >= SYMMETRIC || !places.equals("half_pixel_symmetric");
            String way = isKnown ? places : "half_pixel";
            attributes.put("coordinate_transformation_mode", way);
            attributes.put("extrapolation_value", 7 * from);
            boolean crops = way.equals("tf_crop_and_resize");
            resize.add(model.floats(false, crops ? roi(dims.size()) : new float[0]));
        }
        sizes(dims, resize, attributes.containsValue("tf_crop_and_resize"));
        List<String> result = new ArrayList<>(List.of(model.node("Resize", resize, "resized", attributes)));
        result.addAll(parameters(to));
        model.output(model.node("QuantizeLinear", result, "result", Map.of()), type);
    }

    private float[] roi(int rank) {
        float[] roi = new float[2 * rank];
        for (int i = 0; i < rank; i++) {
            boolean isCropped = i >= rank - 2;
            roi[i] = isCropped ? -0.2f + 0.5f * random.nextFloat() : 0;
            roi[rank + i] = isCropped ? 0.7f + 0.5f * random.nextFloat() : 1;
        }
        return roi;
    }

    /** ONNX Runtime does not multiply the sizes of a cropped image by the part that is cropped, as ONNX does; so they are stated. */
    private void sizes(List<Integer> dims, List<String> resize, boolean crops) {
        if (crops || (version >= CROPPING && random.nextBoolean())) {
            ByteBuffer sizes = ByteBuffer.allocate(8 * dims.size()).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < dims.size(); i++) {
                sizes.putLong(i < dims.size() - 2 ? dims.get(i) : 1 + random.nextInt(20));
            }
            resize.addAll(List.of(
                    model.floats(false), model.constant(ElementType.INT64, List.of(dims.size()), sizes.array())));
            return;
        }
        float[] scales = new float[dims.size()];
        for (int i = 0; i < scales.length; i++) {
            boolean isUsual = random.nextBoolean();
            float scale = isUsual ? (1 + random.nextInt(6)) / 2f : 0.4f + 3 * random.nextFloat();
            scales[i] = i < dims.size() - 2 ? 1 : Math.max(scale, 2f / dims.get(i));
        }
        resize.add(model.floats(false, scales));
    }
}
