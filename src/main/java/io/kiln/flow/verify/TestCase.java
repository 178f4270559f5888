// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Bytes;
import java.util.List;
import java.util.Optional;

/**
 * One inference to compare.
 *
 * @param name name in reports
 * @param inputs bytes of every input in model order
 * @param givenOutputs bytes of every output, if the test vector has them
 */
public record TestCase(String name, List<Bytes> inputs, Optional<List<Bytes>> givenOutputs) {
    public TestCase {
        inputs = List.copyOf(inputs);
    }
}
