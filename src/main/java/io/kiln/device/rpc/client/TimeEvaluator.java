// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcValue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures a function on the board, by the board's own timer. A server has one evaluator at a time: making another one ends this.
 *
 * @param function what the board returned for the evaluator
 * @param settings how it measures
 */
public record TimeEvaluator(RemoteFunction function, Settings settings) {
    private static final String CREATE = "runtime.RPCTimeEvaluator";

    /**
     * How to measure. The board calls the function once unmeasured, then {@code repeat} times a block of calls.
     *
     * @param number calls of a block at first; raised until a block takes {@code minRepeatMillis}
     * @param repeat blocks
     * @param minRepeatMillis shortest time of a block in milliseconds
     * @param mostZeroTimes blocks that may take no time at all before the board gives up raising
     */
    public record Settings(int number, int repeat, int minRepeatMillis, int mostZeroTimes) {
        /** The usual settings, as TVM has them: one block of ten calls. */
        public static final Settings USUAL = new Settings(10, 1, 0, 100);

        public Settings with(int calls, int blocks) {
            return new Settings(calls, blocks, minRepeatMillis, mostZeroTimes);
        }
    }

    /** An evaluator of a module's function. */
    public static TimeEvaluator of(RpcClient client, RemoteModule module, String function, Settings settings) {
        RemoteFunction evaluator = client.global(CREATE)
                .call(
                        module.value(),
                        new RpcValue.Str(function),
                        new RpcValue.Int(RpcValue.Device.CPU.kind()),
                        new RpcValue.Int(RpcValue.Device.CPU.id()),
                        new RpcValue.Int(settings.number()),
                        new RpcValue.Int(settings.repeat()),
                        new RpcValue.Int(settings.minRepeatMillis()),
                        new RpcValue.Int(settings.mostZeroTimes()),
                        new RpcValue.Int(0),
                        new RpcValue.Int(1),
                        new RpcValue.Int(0),
                        new RpcValue.Str(""))
                .function();
        return new TimeEvaluator(evaluator, settings);
    }

    /**
     * Measures the function.
     *
     * @param arguments the function's own
     * @return mean seconds of one call, for each block
     */
    public List<Double> seconds(RpcValue... arguments) {
        Bytes measured = function.call(arguments).bytes();
        if (measured.size() != settings.repeat() * Double.BYTES) {
            throw RpcException.malformed(
                    "the time evaluator returned " + measured.size() + " bytes", settings.repeat() + " doubles");
        }
        ByteBuffer buffer = measured.buffer();
        List<Double> seconds = new ArrayList<>();
        while (buffer.hasRemaining()) {
            seconds.add(buffer.getDouble());
        }
        return List.copyOf(seconds);
    }
}
