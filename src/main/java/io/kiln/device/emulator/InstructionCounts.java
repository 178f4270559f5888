// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Bytes;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Instructions that one run of a model executed.
 *
 * @param total from the first instruction of {@code tvmgen_<name>_run} to its return
 * @param operators from the first instruction of each operator function to its return, summed over its calls, callees
 *     included; in the order requested, 0 for functions that were not called
 * @param outputs the outputs of the run
 * @param stackUsed the deepest use of the image's stack in bytes, from its start to its end; empty if nothing measured it
 */
public record InstructionCounts(long total, Map<String, Long> operators, List<Bytes> outputs, OptionalLong stackUsed) {
    public InstructionCounts {
        operators = Collections.unmodifiableMap(new LinkedHashMap<>(operators));
        outputs = List.copyOf(outputs);
    }
}
