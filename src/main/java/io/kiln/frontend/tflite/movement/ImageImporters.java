// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.custom;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RESIZE_BILINEAR;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RESIZE_NEAREST_NEIGHBOR;

import io.kiln.frontend.tflite.operator.Registration;
import java.util.List;

/** Operators on images and on the output of detectors. */
public final class ImageImporters {
    public static final List<Registration> ALL = List.of(
            builtin(RESIZE_BILINEAR, 4, new ResizeImporter(true)),
            builtin(RESIZE_NEAREST_NEIGHBOR, 4, new ResizeImporter(false)).uint8AsInt8(),
            custom("TFLite_Detection_PostProcess", new DetectionImporter()));

    private ImageImporters() {}
}
