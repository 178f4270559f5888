// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.reference.Interpreter;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.TensorType;

/** TFLite_Detection_PostProcess: the answers that TensorFlow Lite Micro's own test publishes, and what is refused. */
class DetectionImportTest {
    private static final int BOXES = 6;
    private static final float[] ENCODINGS = {0, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    private static final float[] SCORES = {
        0, .9f, .8f, 0, .75f, .72f, 0, .6f, .5f, 0, .93f, .95f, 0, .5f, .4f, 0, .3f, .2f
    };
    private static final float[] ANCHORS = {
        .5f, .5f, 1, 1, .5f, .5f, 1, 1, .5f, .5f, 1, 1, .5f, 10.5f, 1, 1, .5f, 10.5f, 1, 1, .5f, 100.5f, 1, 1
    };

    private final Map<String, Object> options = new TreeMap<>(Map.of(
            "max_detections", 3,
            "max_classes_per_detection", 1,
            "detections_per_class", 1,
            "use_regular_nms", false,
            "nms_score_threshold", 0f,
            "nms_iou_threshold", .5f,
            "num_classes", 2));

    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private TensorSpec encodings = TensorSpec.float32("encodings", 1, BOXES, 4);
    private TensorSpec scores = TensorSpec.float32("scores", 1, BOXES, 3);
    private TensorSpec anchors = TensorSpec.float32("anchors", BOXES, 4).withData(LittleEndian.ofFloats(ANCHORS));
    private int detections = 3;

    DetectionImportTest() {
        List.of("y_scale", "x_scale").forEach(name -> options.put(name, 10f));
        List.of("h_scale", "w_scale").forEach(name -> options.put(name, 5f));
    }

    private TfliteModelBuilder model() {
        int a = model.tensor(encodings);
        int b = model.tensor(scores);
        int[] out = {
            model.tensor(TensorSpec.float32("boxes", 1, detections, 4)),
            model.tensor(TensorSpec.float32("classes", 1, detections)),
            model.tensor(TensorSpec.float32("best", 1, detections)),
            model.tensor(TensorSpec.float32("count", 1))
        };
        int[] in = {a, b, model.tensor(anchors)};
        return model.custom("TFLite_Detection_PostProcess", FlexOptions.of(options), in, out)
                .inputs(a, b)
                .outputs(out);
    }

    private void assertAnswers(float[] boxes, float[] classes, float[] best, float count) {
        List<Bytes> inputs =
                List.of(Bytes.wrap(LittleEndian.ofFloats(ENCODINGS)), Bytes.wrap(LittleEndian.ofFloats(SCORES)));
        List<Bytes> outputs = Interpreter.run(model().read(), inputs);
        assertThat(floats(outputs.get(0))).isEqualTo(boxes);
        assertThat(floats(outputs.get(1))).isEqualTo(classes);
        assertThat(floats(outputs.get(2))).isEqualTo(best);
        assertThat(floats(outputs.get(3))).isEqualTo(new float[] {count});
    }

    private static float[] floats(Bytes data) {
        FloatBuffer buffer = data.buffer().asFloatBuffer();
        float[] values = new float[buffer.remaining()];
        buffer.get(values);
        return values;
    }

    @Test
    void theBestOfBoxesThatOverlapStay() {
        assertAnswers(
                new float[] {0, 10, 1, 11, 0, 0, 1, 1, 0, 100, 1, 101},
                new float[] {1, 0, 0},
                new float[] {.95f, .9f, .3f},
                3);
    }

    @Test
    void eachClassChoosesForItselfIfRegular() {
        options.put("use_regular_nms", true);
        assertAnswers(
                new float[] {0, 10, 1, 11, 0, 10, 1, 11, 0, 0, 0, 0},
                new float[] {1, 0, 0},
                new float[] {.95f, .93f, 0},
                2);
    }

    @Test
    void whatIsBelowTheThresholdIsLeftOut() {
        options.put("nms_score_threshold", .5f);
        assertAnswers(
                new float[] {0, 10, 1, 11, 0, 0, 1, 1, 0, 0, 0, 0},
                new float[] {1, 0, 0},
                new float[] {.95f, .9f, 0},
                2);
    }

    /** Places are kept for classes that are not there. */
    @Test
    void boxesAreListedWithTheirBestClasses() {
        options.put("max_detections", 2);
        options.put("max_classes_per_detection", 3);
        detections = 6;
        assertAnswers(
                new float[] {0, 10, 1, 11, 0, 10, 1, 11, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0},
                new float[] {1, 0, 0, 0, 1, 0},
                new float[] {.95f, .93f, 0, .9f, .8f, 0},
                2);
    }

    private void assertRefused(String... texts) {
        KilnException e = catchThrowableOfType(KilnException.class, () -> model().read());
        assertThat(e).hasMessageContainingAll(texts).hasMessageContaining("operator #0");
    }

    @Test
    void everyOptionThatIsWrongIsTold() {
        options.remove("num_classes");
        options.put("max_detections", 0);
        options.put("w_scale", Float.NaN);
        options.put("detections_per_class", -1);
        assertRefused(
                "its option num_classes is missing",
                "its option max_detections is 0",
                "its option w_scale is NaN",
                "its option detections_per_class is -1");
    }

    @Test
    void numbersThatMeanNothingAreRefused() {
        options.put("x_scale", 0f);
        assertRefused("the scales of y, x, height and width must be finite and not 0");
    }

    @Test
    void thresholdsHaveLimits() {
        options.put("nms_iou_threshold", 1.5f);
        assertRefused("nms_iou_threshold must be above 0 and at most 1, not 1.5");
    }

    @Test
    void detectionsAreCounted() {
        options.put("max_detections", Integer.MAX_VALUE);
        options.put("max_classes_per_detection", Integer.MAX_VALUE);
        assertRefused("are too many");
    }

    @Test
    void memoryHasLimits() {
        options.put("max_detections", 300_000_000);
        assertRefused("float32");
    }

    @Test
    void scoresHaveAClassEach() {
        options.put("num_classes", 5);
        assertRefused("scores of 6 boxes must be (1, 6, 5), or one more for the background, not (1, 6, 3)");
    }

    @Test
    void anchorsBelongToBoxes() {
        anchors = TensorSpec.float32("anchors", BOXES - 1, 4).withData(new byte[(BOXES - 1) * 16]);
        assertRefused("anchors must be (6, 4), not (5, 4)");
    }

    @Test
    void encodingsHaveFourNumbers() {
        encodings = TensorSpec.float32("encodings", 1, BOXES, 3);
        assertRefused("box encodings must be (1, boxes, 4 or more), not (1, 6, 3)");
    }

    @Test
    void otherTypesAreRefused() {
        scores = TensorSpec.int8("scores", 1f, 0, 1, BOXES, 3);
        anchors = TensorSpec.of("anchors", TensorType.INT64, BOXES, 4).withData(new byte[BOXES * 32]);
        assertRefused("element type int8 of `scores`", "element type int64 of `anchors`", "uint8, float32");
    }

    @Test
    void outputsHaveTheirShapes() {
        detections = 4;
        assertRefused("it computes Tensor[(1, 3, 4), float32]");
    }
}
