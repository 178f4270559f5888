// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.FlexOptions;
import io.kiln.frontend.tflite.TensorSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.tensorflow.lite.schema.TensorType;

/**
 * What chooses an object detector's boxes. Anchors come in clusters far from each other, so that boxes overlap within a cluster only. Without
 * regular suppression TensorFlow Lite leaves places for detections as they were: there are never more than clusters.
 */
final class DetectionCases {
    private static final String CODE = "TFLite_Detection_PostProcess";

    static final OperatorCases FAST = OperatorCases.of("DETECTION_FAST", d -> {
        byte type = d.oneOf(TensorType.FLOAT32, TensorType.FLOAT32, TensorType.UINT8);
        Detector detector = new Detector(d, type);
        TensorSpec scores = detector.scores(type);
        detector.add(d.between(1, detector.clusters), 1, Map.of("nms_score_threshold", -1000f), d.input(scores));
    });

    /** Which of two classes of one score comes first TensorFlow Lite leaves open, therefore constant scores without equals. */
    static final OperatorCases CLASSES = OperatorCases.of("DETECTION_CLASSES", d -> {
        Detector detector = new Detector(d, TensorType.FLOAT32);
        int listed = d.between(1, detector.classes);
        int scores = d.add(d.constant(detector.scores(TensorType.FLOAT32)));
        Map<String, Object> options = Map.of("nms_score_threshold", -1000f, "use_regular_nms", false);
        detector.add(d.between(1, detector.clusters), listed, options, scores);
    });

    static final OperatorCases REGULAR = OperatorCases.of("DETECTION_REGULAR", d -> {
        Detector detector = new Detector(d, TensorType.FLOAT32);
        int scores = d.add(d.constant(detector.scores(TensorType.FLOAT32)));
        Map<String, Object> options = new TreeMap<>();
        options.put("use_regular_nms", true);
        options.put("nms_score_threshold", d.oneOf(-0.5f, 0f, 1f, 100f));
        if (d.coin()) {
            options.put("detections_per_class", d.between(1, 4));
        }
        detector.add(d.between(1, 12), 1, options, scores);
    });

    static final List<OperatorCases> ALL = List.of(FAST, CLASSES, REGULAR);

    private DetectionCases() {}

    /** A random number of boxes and classes, with their anchors. */
    private static final class Detector {
        private final Draw d;
        private final byte type;
        private final int clusters;
        private final int boxes;
        private final int classes;

        Detector(Draw d, byte type) {
            this.d = d;
            this.type = type;
            this.clusters = d.between(1, 8);
            this.boxes = clusters * d.between(1, 5);
            this.classes = d.between(1, 6);
        }

        TensorSpec scores(byte scoreType) {
            TensorSpec scores = d.tensor(scoreType, 1, boxes, classes + d.between(0, 1));
            return scoreType == TensorType.UINT8 ? scores.quantized(1f / 256, d.between(0, 255)) : scores;
        }

        void add(int maxDetections, int listed, Map<String, Object> more, int scores) {
            Map<String, Object> options = new TreeMap<>(more);
            options.put("max_detections", maxDetections);
            options.put("max_classes_per_detection", listed);
            options.put("num_classes", classes);
            options.put("nms_iou_threshold", d.oneOf(0.3f, 0.5f, 0.6f, 0.9f, 1f));
            options.put("y_scale", (float) d.between(20, 60));
            options.put("x_scale", (float) d.between(20, 60));
            options.put("h_scale", (float) d.between(20, 60));
            options.put("w_scale", (float) d.between(20, 60));
            TensorSpec encodings = d.tensor(type, 1, boxes, d.between(4, 6));
            boolean isFloat = type == TensorType.FLOAT32;
            int[] in = {d.input(isFloat ? encodings : encodings.quantized(0.2f, d.between(0, 255))), scores, anchors()};
            int n = maxDetections * listed;
            int[] out = {
                d.output(TensorSpec.float32("boxes", 1, n, 4)),
                d.output(TensorSpec.float32("classes", 1, n)),
                d.output(TensorSpec.float32("scores", 1, n)),
                d.output(TensorSpec.float32("count", 1))
            };
            d.model().custom(CODE, FlexOptions.of(options), in, out);
        }

        /** A cluster's anchors differ a little, if they are floats. */
        private int anchors() {
            boolean isFloat = type == TensorType.FLOAT32;
            ByteBuffer data = ByteBuffer.allocate(boxes * 4 * (isFloat ? 4 : 1)).order(ByteOrder.LITTLE_ENDIAN);
            for (int box = 0; box < boxes; box++) {
                int middle = 30 * (box % clusters);
                for (int value : new int[] {middle, middle, 1, 1}) {
                    if (isFloat) {
                        data.putFloat(value * 10 + d.between(0, 30) / 16f);
                    } else {
                        data.put((byte) value);
                    }
                }
            }
            TensorSpec anchors = TensorSpec.of("anchors", type, boxes, 4);
            return d.add((isFloat ? anchors : anchors.quantized(10f, 0)).withData(data.array()));
        }
    }
}
