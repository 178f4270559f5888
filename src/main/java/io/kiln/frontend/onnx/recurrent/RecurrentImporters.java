// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.recurrent;

import static io.kiln.frontend.onnx.operator.OnnxRegistration.onnx;

import io.kiln.frontend.onnx.operator.OnnxRegistration;
import java.util.List;

/** The table of recurrent layers. */
public final class RecurrentImporters {
    /** All operators of the family. */
    public static final List<OnnxRegistration> ALL = List.of(
            onnx("RNN", new RecurrentImporter(1, List.of("Tanh"), Cells::plain)),
            onnx("GRU", new RecurrentImporter(3, List.of("Sigmoid", "Tanh"), Cells::gated)),
            onnx("LSTM", new RecurrentImporter(4, List.of("Sigmoid", "Tanh", "Tanh"), Cells::longShort)));

    private RecurrentImporters() {}
}
