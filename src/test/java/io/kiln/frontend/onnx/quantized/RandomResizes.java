// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Draws quantized images that are resized by interpolation, in all ways of placing elements. */
public final class RandomResizes extends QuantizedDraw {
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

    private final boolean isPowerOfTwo;

    private RandomResizes(long seed) {
        super(seed, PLACES.size(), VERSIONS);
        this.isPowerOfTwo = below(4) == 0;
    }

    /** The model of a number; ways of placing elements take turns. */
    public static Model draw(long seed) {
        RandomResizes drawn = new RandomResizes(seed);
        String places = PLACES.get((int) (seed % PLACES.size()));
        drawn.build(places);
        return drawn.named("Resize " + places + " of version " + drawn.version);
    }

    private float scale() {
        return scale(LEAST, MOST, isPowerOfTwo);
    }

    private void build(String places) {
        boolean isImage = below(4) > 0;
        int height = upTo(9);
        int width = upTo(9);
        List<Integer> dims = isImage ? List.of(upTo(2), upTo(3), height, width) : List.of(height, width);
        float from = scale();
        float to = below(3) > 0 ? from : scale();
        List<String> resize = new ArrayList<>(List.of(real("x", dims, new Scale(from, zero()))));
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
        quantized(model.node("Resize", resize, "resized", attributes), new Scale(to, zero()));
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
        if (crops || (version >= CROPPING && coin())) {
            List<Integer> sizes = new ArrayList<>(dims);
            for (int i = dims.size() - 2; i < dims.size(); i++) {
                sizes.set(i, upTo(20));
            }
            resize.addAll(List.of(model.floats(false), model.longs(sizes)));
            return;
        }
        float[] scales = new float[dims.size()];
        for (int i = 0; i < scales.length; i++) {
            boolean isUsual = coin();
            float scale = isUsual ? upTo(6) / 2f : 0.4f + 3 * random.nextFloat();
            scales[i] = i < dims.size() - 2 ? 1 : Math.max(scale, 2f / dims.get(i));
        }
        resize.add(model.floats(false, scales));
    }
}
