// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.rpc.packet.RpcValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** A model on the board, driven over RPC by the server's AOT executor. A server keeps one executor at a time. */
public final class AotExecutor implements RemoteModel {
    private static final String CREATE = "tvm.aot_executor.create";

    /** The error of a server that keeps an executor already. */
    private static final String EXISTS = "0x0700";

    /** Handle of the first module, the system library; modules are numbered. */
    private static final long FIRST_MODULE = 0x8000;

    private static final long MOST_TENSORS = 255;

    private final RemoteModule module;
    private final Map<String, RemoteFunction> functions = new HashMap<>();
    private final List<RemoteTensor> inputs;
    private final List<RemoteTensor> outputs;

    private AotExecutor(RemoteModule module) {
        this.module = module;
        this.inputs = tensors("get_num_inputs", "get_input");
        this.outputs = tensors("get_num_outputs", "get_output");
    }

    /**
     * Creates an executor; the caller closes it.
     *
     * @param library the system library
     * @param model name of the model, as in {@code tvmgen_<name>_run}
     * @throws RpcException of kind {@link Kind#REMOTE} if the image has no such model with the packed interface
     */
    public static AotExecutor create(RpcClient client, RemoteModule library, String model) {
        Supplier<RemoteModule> create = () -> client.global(CREATE)
                .call(library.value(), RpcValue.Device.CPU, new RpcValue.Str(model))
                .module();
        try {
            return new AotExecutor(create.get());
        } catch (RpcException e) {
            if (e.kind() != Kind.REMOTE || !e.getMessage().contains(EXISTS)) {
                throw e;
            }
            // A host that disconnected without freeing its executor left it behind: it is the module after the system
            // library.
            new RemoteModule(client, Math.max(library.handle(), FIRST_MODULE) + 1).close();
            return new AotExecutor(create.get());
        }
    }

    private List<RemoteTensor> tensors(String countFunction, String function) {
        long count = call(countFunction).integer();
        if (count < 0 || count > MOST_TENSORS) {
            throw RpcException.malformed("a model of " + count + " tensors", "0 to " + MOST_TENSORS);
        }
        return IntStream.range(0, (int) count)
                .mapToObj(index -> call(function, new RpcValue.Int(index)).tensor())
                .toList();
    }

    /** The model's inputs, in its order; their memory is the executor's. */
    public List<RemoteTensor> inputs() {
        return inputs;
    }

    /** The model's outputs, in its order. */
    public List<RemoteTensor> outputs() {
        return outputs;
    }

    public String inputName(int index) {
        return call("get_input_name", new RpcValue.Int(index)).text();
    }

    /** The number of an input. */
    public int inputIndex(String name) {
        return (int) call("get_input_index", new RpcValue.Str(name)).integer();
    }

    /** Runs the model once with the current inputs. */
    public void run() {
        call("run");
    }

    @Override
    public List<Integer> inputBytes() {
        return inputs.stream().map(RemoteTensor::bytes).toList();
    }

    @Override
    public List<Integer> outputBytes() {
        return outputs.stream().map(RemoteTensor::bytes).toList();
    }

    @Override
    public List<Bytes> run(List<Bytes> given) {
        for (int i = 0; i < given.size(); i++) {
            inputs.get(i).upload(given.get(i));
        }
        run();
        return outputs.stream().map(RemoteTensor::download).toList();
    }

    /** A time evaluator for whole runs of the model with the current inputs. */
    public TimeEvaluator timeEvaluator(RpcClient client, TimeEvaluator.Settings settings) {
        return TimeEvaluator.of(client, module, "run", settings);
    }

    private Returned call(String function, RpcValue... arguments) {
        return functions.computeIfAbsent(function, module::require).call(arguments);
    }

    /** Frees arrays and executor on the board. */
    @Override
    public void close() {
        List<RemoteTensor> all = new ArrayList<>(inputs);
        all.addAll(outputs);
        all.forEach(RemoteTensor::close);
        module.close();
    }
}
