// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import static java.util.Map.entry;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.DetectionPostprocess;
import java.util.Map;

/** The operator that selects boxes from an object detector's output. */
final class DetectionRules {
    private static final int MAX = Integer.MAX_VALUE;

    static final Map<String, Rule> ALL =
            Map.ofEntries(entry("tfl.detection_postprocess", Rule.of(DetectionRules::postprocess)));

    private DetectionRules() {}

    private static Op postprocess(Attributes a) {
        return new DetectionPostprocess(
                a.integer("max_detections", 1, MAX),
                a.integer("max_classes_per_detection", 1, MAX),
                a.integer("detections_per_class", 1, MAX),
                a.integer("use_regular_nms", 0, 1) == 1,
                a.integer("num_classes", 1, MAX),
                (float) a.real("nms_score_threshold"),
                (float) a.real("nms_iou_threshold"),
                a.reals("scales").stream().map(Double::floatValue).toList());
    }
}
