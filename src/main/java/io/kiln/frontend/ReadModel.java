// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.ir.Function;
import java.util.List;

/**
 * A model as it was read.
 *
 * @param function the model
 * @param warnings what the file says about it that does not hold, for people
 */
public record ReadModel(Function function, List<String> warnings) {
    public ReadModel {
        warnings = List.copyOf(warnings);
    }
}
