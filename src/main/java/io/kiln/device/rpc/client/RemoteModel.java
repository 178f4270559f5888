// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import java.util.List;

/** A model that a host drives on the board, by one executor or another. */
public interface RemoteModel extends AutoCloseable {
    /** Bytes of each input. */
    List<Integer> inputBytes();

    /** Bytes of each output. */
    List<Integer> outputBytes();

    /**
     * Runs the model once.
     *
     * @param given the bytes of each input
     * @return the bytes of each output
     */
    List<Bytes> run(List<Bytes> given);

    @Override
    void close();
}
