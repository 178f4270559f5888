// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Prints what runs a model on audio: samples become rows of its input as the console brings them, so that a recording needs no memory.
 *
 * @param model a model with signal processing before its only input
 */
record AudioCall(ModelMetadata model) {
    String header() {
        return names().preprocessHeader();
    }

    List<String> lines() {
        String outputs = model.outputs().stream()
                .map(TensorInfo::bytes)
                .map(bytes -> ", " + bytes + "u")
                .collect(Collectors.joining());
        String rows = model.inputs().get(0).dtype().cName() + "*";
        return """
                static const uint32_t audio_sizes_@NAME@[] = {@M@_SAMPLES * 2u@OUTPUTS@};

                /* Samples become rows of the input of @NAME@ as they come, low byte first. */
                static void take_@NAME@(uint32_t at, uint8_t byte) {
                  static struct @P@ state;
                  static @ROWS@ row;
                  static uint8_t low;
                  if (at == 0u) {
                    @P@_init(&state);
                    row = (@ROWS@)(void*)tensor_@NAME@(0u);
                  }
                  if (at % 2u == 0u) {
                    low = byte;
                    return;
                  }
                  int16_t sample = (int16_t)(uint16_t)(low | byte << 8);
                  (void)@P@_feed(&state, &sample, 1u);
                  if (@P@_next(&state, row) != 0) {
                    row += @M@_FEATURES;
                  }
                }
                """.replace("@NAME@", model.name())
                .replace("@M@", names().macro("preprocess"))
                .replace("@P@", names().preprocess())
                .replace("@ROWS@", rows)
                .replace("@OUTPUTS@", outputs)
                .lines()
                .toList();
    }

    /** The entry in the table. The memory of inputs and outputs is that of the model. */
    String entry() {
        String name = model.name();
        return "{\"" + names().audio() + "\", 1u, " + model.outputs().size() + "u, audio_sizes_" + name + ", tensor_"
                + name + ", run_" + name + ", take_" + name + "},";
    }

    private InterfaceNames names() {
        return new InterfaceNames(model.name());
    }
}
