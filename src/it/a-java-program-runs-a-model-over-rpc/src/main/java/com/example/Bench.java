// SPDX-License-Identifier: Apache-2.0
package com.example;

import io.kiln.base.Bytes;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TimeEvaluator;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.Transport;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** Runs the model of an image in an emulator on each vector, and compares with the reference interpreter. */
public final class Bench {
    private Bench() {}

    /** Arguments: image, model, folder of vectors. */
    public static void main(String[] args) throws IOException {
        Function model = TfliteFrontend.read(Bytes.wrap(Files.readAllBytes(Path.of(args[1]))), args[1], "gesture");
        Emulator emulator = Emulator.of(Boards.builtIn().find("mps2-an386"), Duration.ofMinutes(2));
        try (Transport line = emulator.boot(Path.of(args[0]));
                GestureClient gesture = GestureClient.overRpc(line, Duration.ofMinutes(1), System.err::print)) {
            for (int k = 0; k < 4; k++) {
                byte[] input = Files.readAllBytes(Path.of(args[2], "input_" + k + ".bin"));
                Bytes expected = Interpreter.run(model, List.of(Bytes.wrap(input))).get(0);
                boolean isExact = Arrays.equals(gesture.runBytes(List.of(input)).get(0), expected.toArray());
                System.out.println("vector " + k + (isExact ? " is bit-exact" : " differs"));
            }
        }
        try (Transport line = emulator.boot(Path.of(args[0]));
                RpcClient board = RpcClient.connect(line, TransportTimeouts.EMULATOR, System.err::println);
                AotExecutor executor = AotExecutor.create(board, board.systemLibrary(), "gesture")) {
            double seconds = executor.timeEvaluator(board, TimeEvaluator.Settings.USUAL).seconds().get(0);
            System.out.println("a run takes " + Math.round(seconds * 1e6) + " us");
        }
    }
}
