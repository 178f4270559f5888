// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.DetectionBoxes;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Selects boxes from the output of an object detector (detection_postprocess.cc of TensorFlow Lite Micro): of boxes
 * that overlap too much only the one with the best score is kept.
 *
 * <p>Arguments, all float32: encodings (1, boxes, 4 or more) of y, x, height and width relative to the anchors; scores
 * (1, boxes, classes), one class more if the first is the background; anchors (boxes, 4) of middle y and x, height and
 * width.
 *
 * <p>The result is a vector of the four outputs one after the other, with {@code n} = {@link #detections}: n boxes of
 * four coordinates (least y and x, largest y and x), n classes, n scores, and the number of valid ones. Invalid entries
 * are 0.
 *
 * <p>Fast: each box is represented by its best class; the best boxes are kept, at most {@code maxDetections}, the first
 * of equals, and each is listed with its {@code maxClassesPerDetection} best classes, as in TensorFlow Lite (TensorFlow
 * Lite Micro leaves gaps there, and writes beyond its outputs, if there is more than one); the number counts boxes.
 * Regular: boxes are selected for each class, at most {@code detectionsPerClass}, and the {@code maxDetections} best of
 * all are kept, the earlier class first.
 *
 * <p>Boxes without area do not overlap. TensorFlow Lite Micro ends the run for them, and for anchors of negative size,
 * which invert a box.
 *
 * @param maxDetections largest number of boxes, 1 or more
 * @param maxClassesPerDetection classes listed for each box, 1 or more
 * @param detectionsPerClass largest number of boxes of one class, if regular; 1 or more
 * @param regular whether boxes are selected for each class
 * @param classes number of classes without the background
 * @param scoreThreshold least score of a box that is considered
 * @param iouThreshold intersection over union above which boxes overlap too much, above 0 and at most 1
 * @param scales divisors of the encodings of y, x, height and width, not 0
 */
public record DetectionPostprocess(
        int maxDetections,
        int maxClassesPerDetection,
        int detectionsPerClass,
        boolean regular,
        int classes,
        float scoreThreshold,
        float iouThreshold,
        List<Float> scales)
        implements Op {
    public static final Signature<DetectionPostprocess> SIGNATURE = Signature.of(
                    DetectionPostprocess.class, "tfl.detection_postprocess")
            .data("box encodings", operand -> operand.rank(3), DType.FLOAT32)
            .data("scores", operand -> operand.rank(3), DType.FLOAT32)
            .data("anchors", operand -> operand.rank(2), DType.FLOAT32)
            .attributes(
                    Attribute.whole("max_detections", DetectionPostprocess::maxDetections, 1),
                    Attribute.whole("max_classes_per_detection", DetectionPostprocess::maxClassesPerDetection, 1),
                    Attribute.whole("detections_per_class", DetectionPostprocess::detectionsPerClass, 1)
                            .and(Attribute.flag("use_regular_nms", DetectionPostprocess::regular)),
                    Attribute.whole("num_classes", DetectionPostprocess::classes, 1),
                    Attribute.single("nms_score_threshold", DetectionPostprocess::scoreThreshold)
                            .and(Attribute.single("nms_iou_threshold", DetectionPostprocess::iouThreshold)),
                    Attribute.singles("scales", DetectionPostprocess::scales),
                    (detections, perDetection, perClass, classes, thresholds, scales) -> new DetectionPostprocess(
                            detections,
                            perDetection,
                            perClass.first(),
                            perClass.second(),
                            classes,
                            thresholds.first(),
                            thresholds.second(),
                            scales))
            .result(DetectionPostprocess::result);

    @Override
    public Card<DetectionPostprocess> card() {
        return SIGNATURE.of(this);
    }

    /** Elements of the result for each detection: its box, class and score. */
    private static final int PER_DETECTION = DetectionBoxes.COORDINATES + 2;

    public DetectionPostprocess {
        scales = List.copyOf(scales);
    }

    /** Number of entries for detections. */
    public int detections() {
        return maxDetections * maxClassesPerDetection;
    }

    /** Index of the first class in the result. */
    public int firstClass() {
        return DetectionBoxes.COORDINATES * detections();
    }

    /** Index of the first score in the result. */
    public int firstScore() {
        return firstClass() + detections();
    }

    /** Index of the number of detections in the result. */
    public int count() {
        return PER_DETECTION * detections();
    }

    /** Largest number of boxes selected for one class, regular or not. */
    public int chosenAtMost() {
        return regular ? Math.min(detectionsPerClass, maxDetections) : maxDetections;
    }

    private void checkNumbers() {
        Check.that(
                maxDetections > 0 && maxClassesPerDetection > 0 && detectionsPerClass > 0 && classes > 0,
                "max_detections, max_classes_per_detection, detections_per_class and num_classes must be 1 or more");
        Check.that(
                (long) maxDetections * maxClassesPerDetection < Integer.MAX_VALUE / PER_DETECTION,
                maxDetections + " detections with " + maxClassesPerDetection + " classes each are too many");
        Check.that(
                Float.isFinite(scoreThreshold) && scoreThreshold > -Float.MAX_VALUE,
                "nms_score_threshold must be a finite number, not " + scoreThreshold);
        Check.that(
                iouThreshold > 0 && iouThreshold <= 1,
                "nms_iou_threshold must be above 0 and at most 1, not " + iouThreshold);
        Check.that(
                scales.size() == DetectionBoxes.COORDINATES
                        && scales.stream().allMatch(scale -> Float.isFinite(scale) && scale != 0),
                "the scales of y, x, height and width must be finite and not 0: " + scales);
    }

    private TensorType result(List<TensorType> args) {
        checkNumbers();
        Shape encodings = args.get(0).shape();
        Shape scores = args.get(1).shape();
        Shape anchors = args.get(2).shape();
        Check.that(
                encodings.dim(0) == 1 && encodings.dim(2) >= DetectionBoxes.COORDINATES,
                "box encodings must be (1, boxes, 4 or more), not " + encodings.text());
        int boxes = encodings.dim(1);
        Check.that(
                scores.dim(0) == 1
                        && scores.dim(1) == boxes
                        && (scores.dim(2) == classes || scores.dim(2) - 1 == classes),
                "scores of " + boxes + " boxes must be (1, " + boxes + ", " + classes
                        + "), or one more for the background," + " not " + scores.text());
        Check.that(
                anchors.dim(0) == boxes && anchors.dim(1) == DetectionBoxes.COORDINATES,
                "anchors must be (" + boxes + ", 4), not " + anchors.text());
        return new TensorType(Shape.of(count() + 1), DType.FLOAT32);
    }
}
