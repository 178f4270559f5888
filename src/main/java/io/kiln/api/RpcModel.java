// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TimeEvaluator;
import java.util.List;

/** A model on a board, over RPC. */
public final class RpcModel implements AutoCloseable {
    private final RpcClient client;
    private final AotExecutor executor;

    RpcModel(RpcClient client, AotExecutor executor) {
        this.client = client;
        this.executor = executor;
    }

    /**
     * Sizes of the inputs.
     *
     * @return bytes, in the model's order
     */
    public List<Integer> inputBytes() {
        return executor.inputBytes();
    }

    /**
     * Sizes of the outputs.
     *
     * @return bytes, in the model's order
     */
    public List<Integer> outputBytes() {
        return executor.outputBytes();
    }

    /**
     * Runs the model.
     *
     * @param inputs the elements of each input, row-major, little-endian
     * @return the elements of each output
     * @throws IllegalArgumentException if number or sizes of the inputs are wrong
     * @throws KilnFailure if the board fails or falls silent
     */
    public List<byte[]> run(List<byte[]> inputs) {
        List<Integer> sizes = inputs.stream().map(input -> input.length).toList();
        if (!sizes.equals(inputBytes())) {
            throw new IllegalArgumentException("the model has inputs of " + inputBytes() + " bytes, not " + sizes);
        }
        return KilnFailure.told(
                () -> executor.run(inputs.stream().map(Bytes::copyOf).toList()).stream()
                        .map(Bytes::toArray)
                        .toList());
    }

    /**
     * Measures a run with the current inputs, by the board's own timer.
     *
     * @return the mean seconds of ten runs
     * @throws KilnFailure if the board has no timer
     */
    public double seconds() {
        return KilnFailure.told(() -> executor.timeEvaluator(client, TimeEvaluator.Settings.USUAL)
                .seconds()
                .get(0));
    }

    /** Frees what it takes on the board. */
    @Override
    public void close() {
        KilnFailure.told(executor::close);
    }
}
