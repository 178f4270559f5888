// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.Optional;

/**
 * One inference to be compared.
 *
 * @param name what the reports call it
 * @param inputs bytes of every input in model order
 * @param givenOutputs bytes of every output as a test vector states them, if it does
 */
record TestCase(String name, List<Bytes> inputs, Optional<List<Bytes>> givenOutputs) {
    TestCase {
        inputs = List.copyOf(inputs);
    }
}
