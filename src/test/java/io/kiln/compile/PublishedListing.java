// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.artifact.ParameterFile.NdArrayFormat;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.WholeFiles;
import io.kiln.ir.Constant;
import io.kiln.reference.GoldenModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A listing of a quantized keyword model as TVM printed it, without its parameters: seeded ones are put beside it, and seeded scales for
 * each channel into a metadata section.
 */
public final class PublishedListing {
    /** What TVM's own archive of the model states. */
    public static final int TVM_WORKSPACE_BYTES = 23_664;

    private final Random random = new Random(41);
    private final List<NamedTensor> parameters = new ArrayList<>();

    /** Writes text and parameters into a folder; the test is skipped where the golden models are not there. */
    public static Path write(Path folder) throws IOException {
        Path listing = GoldenModels.folder("relay").resolve("micro_kws_example.relay");
        return new PublishedListing().complete(Files.readString(listing), folder);
    }

    private Path complete(String listing, Path folder) {
        add("v_param_1", DType.INT8, 20, 8, 1, 8);
        add("v_param_2", DType.INT32, 8);
        add("v_param_3", DType.INT8, 10, 4, 8, 8);
        add("v_param_4", DType.INT32, 8);
        add("v_param_5", DType.INT8, 4, 3840);
        add("v_param_6", DType.INT32, 4);
        float[] first = scales();
        float[] second = scales();
        List<Constant> constants = List.of(
                Constant.vector(first),
                Constant.vector(times(first, 0.101562f)),
                Constant.vector(second),
                Constant.vector(times(second, 0.141817f)));
        Path text = folder.resolve("micro_kws.relay");
        WholeFiles.write(text, "#[version = \"0.0.5\"]\n" + listing + "\n#[metadata]\n" + metadata(constants));
        WholeFiles.write(
                folder.resolve("micro_kws.params"),
                ParameterFile.write(parameters).toArray());
        return text;
    }

    private void add(String name, DType dtype, Integer... dims) {
        int elements = List.of(dims).stream().reduce(1, (a, b) -> a * b);
        byte[] weights = new byte[elements];
        random.nextBytes(weights);
        Bytes data = dtype == DType.INT8
                ? Bytes.wrap(weights)
                : Constant.vector(random.ints(elements, -20_000, 20_000).toArray())
                        .data();
        parameters.add(new NamedTensor(name, dtype, List.of(dims), data));
    }

    private float[] scales() {
        float[] scales = new float[8];
        IntStream.range(0, scales.length).forEach(i -> scales[i] = 0.0005f + 0.001f * random.nextFloat());
        return scales;
    }

    private static float[] times(float[] values, float factor) {
        float[] products = values.clone();
        IntStream.range(0, values.length).forEach(i -> products[i] *= factor);
        return products;
    }

    /** As TVM writes it, with the nodes in another order than Kiln does. */
    private static String metadata(List<Constant> constants) {
        String nodes = IntStream.range(0, constants.size())
                .mapToObj(i -> ", {\"type_key\": \"relay.Constant\", \"attrs\": {\"data\": \"" + i
                        + "\", \"span\": \"0\", \"virtual_device_\": \"0\", \"_checked_type_\": \"0\"}}")
                .collect(Collectors.joining());
        String references = IntStream.range(0, constants.size())
                .mapToObj(i -> String.valueOf(i + 3))
                .collect(Collectors.joining(", "));
        String arrays = constants.stream()
                .map(c -> NdArrayFormat.encode(
                        new NamedTensor("", c.type().dtype(), c.type().shape().dims(), c.data())))
                .map(bytes -> "\"" + Base64.getEncoder().encodeToString(bytes.toArray()) + "\"")
                .collect(Collectors.joining(", "));
        return "{\"root\": 1, \"nodes\": [{\"type_key\": \"\"},"
                + " {\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \"data\": [2]},"
                + " {\"type_key\": \"Array\", \"data\": [" + references + "]}" + nodes + "],"
                + " \"b64ndarrays\": [" + arrays + "], \"attrs\": {\"tvm_version\": \"0.11.0\"}}\n";
    }
}
