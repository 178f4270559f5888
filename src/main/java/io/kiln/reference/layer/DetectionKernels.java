// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import static io.kiln.ir.arith.DetectionBoxes.COORDINATES;
import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.ir.arith.DetectionBoxes;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.Map;

/** The kernel that selects an object detector's boxes; one object for each run. */
public final class DetectionKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL =
            Map.ofEntries(pure(DetectionPostprocess.class, DetectionKernels::postprocess));

    /** The score of a box that is excluded. */
    private static final float GONE = -Float.MAX_VALUE;

    private final DetectionPostprocess op;
    private final float[] scores;

    /** Elements of the scores of one box, and where those of the classes begin among them. */
    private final int stride;

    private final int background;
    private final float[] boxes;

    /** The score of each box while it can be selected. */
    private final float[] left;

    private final float[] result;
    private int count;

    private DetectionKernels(DetectionPostprocess op, List<Tensor> args, TensorType type) {
        this.op = op;
        this.scores = args.get(1).floats();
        this.stride = args.get(1).shape().dim(2);
        this.background = stride - op.classes();
        this.boxes = decoded(op, args.get(0), args.get(2).floats());
        this.left = new float[boxes.length / COORDINATES];
        this.result = new float[type.shape().dim(0)];
    }

    private static Tensor postprocess(DetectionPostprocess op, List<Tensor> args, TensorType type) {
        DetectionKernels run = new DetectionKernels(op, args, type);
        if (op.regular()) {
            run.regular();
        } else {
            run.fast();
        }
        run.result[op.count()] = run.count;
        return Tensor.of(type, run.result);
    }

    private static float[] decoded(DetectionPostprocess op, Tensor encodings, float[] anchors) {
        float[] boxes = new float[anchors.length];
        int stride = encodings.shape().dim(2);
        for (int box = 0; box < boxes.length / COORDINATES; box++) {
            for (int axis = 0; axis < 2; axis++) {
                int from = box * stride + axis;
                int to = box * COORDINATES + axis;
                float middle = DetectionBoxes.middle(
                        encodings.floats()[from], op.scales().get(axis), anchors[to + 2], anchors[to]);
                float half = DetectionBoxes.half(
                        encodings.floats()[from + 2], op.scales().get(axis + 2), anchors[to + 2]);
                boxes[to] = middle - half;
                boxes[to + 2] = middle + half;
            }
        }
        return boxes;
    }

    private float score(int box, int label) {
        return scores[box * stride + background + label];
    }

    private void fast() {
        for (int box = 0; box < left.length; box++) {
            float best = score(box, 0);
            for (int label = 1; label < op.classes(); label++) {
                best = score(box, label) > best ? score(box, label) : best;
            }
            enter(box, best);
        }
        for (int box = next(); count < op.chosenAtMost() && box >= 0; box = next()) {
            suppress(box);
            list(box);
            count++;
        }
    }

    private void enter(int box, float score) {
        left[box] = score >= op.scoreThreshold() ? score : GONE;
    }

    /** The remaining box with the best score, the first of equals; -1 if there is none. */
    private int next() {
        int found = -1;
        float best = GONE;
        for (int box = 0; box < left.length; box++) {
            if (left[box] > best) {
                best = left[box];
                found = box;
            }
        }
        return found;
    }

    /** Removes a box, and those that overlap it too much. */
    private void suppress(int chosen) {
        left[chosen] = GONE;
        for (int box = 0; box < left.length; box++) {
            if (left[box] > GONE && DetectionBoxes.intersectionOverUnion(boxes, chosen, box) > op.iouThreshold()) {
                left[box] = GONE;
            }
        }
    }

    /** Lists a box with its best classes, the first of equals first. */
    private void list(int box) {
        int last = -1;
        float limit = Float.MAX_VALUE;
        for (int k = 0; k < Math.min(op.maxClassesPerDetection(), op.classes()); k++) {
            int found = -1;
            float best = GONE;
            for (int label = 0; label < op.classes(); label++) {
                float score = score(box, label);
                boolean follows = score < limit || (score == limit && label > last);
                if ((k == 0 || follows) && (found < 0 || score > best)) {
                    found = label;
                    best = score;
                }
            }
            store(count * op.maxClassesPerDetection() + k, box, found, best);
            last = found;
            limit = best;
        }
    }

    private void store(int place, int box, int label, float score) {
        System.arraycopy(boxes, box * COORDINATES, result, place * COORDINATES, COORDINATES);
        result[op.firstClass() + place] = label;
        result[op.firstScore() + place] = score;
    }

    private void regular() {
        for (int label = 0; label < op.classes(); label++) {
            for (int box = 0; box < left.length; box++) {
                enter(box, score(box, label));
            }
            int box = next();
            for (int chosen = 0; chosen < op.chosenAtMost() && box >= 0; chosen++) {
                suppress(box);
                insert(box, label, score(box, label));
                box = next();
            }
        }
    }

    /** Inserts a box after all that are as good; the last one is dropped if there are too many. */
    private void insert(int box, int label, float score) {
        int place = Math.min(count, op.maxDetections() - 1);
        if (count == op.maxDetections() && !(score > result[op.firstScore() + place])) {
            return;
        }
        while (place > 0 && result[op.firstScore() + place - 1] < score) {
            System.arraycopy(result, (place - 1) * COORDINATES, result, place * COORDINATES, COORDINATES);
            result[op.firstClass() + place] = result[op.firstClass() + place - 1];
            result[op.firstScore() + place] = result[op.firstScore() + place - 1];
            place--;
        }
        store(place, box, label, score);
        count = Math.min(count + 1, op.maxDetections());
    }
}
