// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.DType;
import java.util.List;
import java.util.Locale;

/** A small model as Kiln writes it into archives, and its part of {@code metadata.json}. */
final class WrittenModel {
    static final String TARGET = "c -keys=arm_cpu,cpu -mcpu=cortex-m4";

    private WrittenModel() {}

    /** The model with two inputs, one output and one operator. */
    static ModelLibrary library(String name) {
        TensorInfo input = new TensorInfo("z:0", "z_0", DType.INT8, List.of(1, 49, 10, 1), 0.5f, 83);
        TensorInfo second = new TensorInfo("a", "a", DType.FLOAT32, List.of(1, 2), 0, 0);
        TensorInfo output = new TensorInfo("Identity", "Identity", DType.INT8, List.of(1, 12), 0.1f, -128);
        ModelMetadata metadata = new ModelMetadata(
                name,
                TARGET,
                ModelMetadata.Interface.typed(Io.CALLER, List.of(input, second), List.of(output)),
                new ModelMetadata.Memory(1600, 16, 22000),
                new Plan("first fit by size", 1600, 1600, List.of()),
                List.of(new OperatorInfo(
                        "tvmgen_" + name + "_fused_qnn_conv2d",
                        List.of("#0 CONV_2D `conv`"),
                        "qnn.conv2d",
                        List.of(),
                        List.of(),
                        new OperatorInfo.Cost(1, 1, 0, 64),
                        new OperatorInfo.ChosenSchedule("x", "y"))));
        String header = String.format(Locale.ROOT, """
            struct tvmgen_%1$s_inputs {
              const void* z_0;
              const void* a;
            };
            struct tvmgen_%1$s_outputs {
              void* Identity;
            };
            """, name);
        return new ModelLibrary(
                metadata,
                new ArtifactSet(List.of(
                        Artifact.ofText("c", ArtifactKind.SOURCE, name + "_lib0.c", "int zero;\n"),
                        Artifact.ofText("c", ArtifactKind.SOURCE, name + "_lib1.c", "int one;\n"),
                        Artifact.ofText("c", ArtifactKind.HEADER, "tvmgen_" + name + ".h", header),
                        Artifact.ofText("c", ArtifactKind.RELAY, name + ".relay", "def @main() {}\n"))));
    }

    /** One model's metadata, indented by some spaces behind its first line. */
    static String metadata(int indent, String target, String time) {
        String text = String.format(Locale.ROOT, """
            {
              "executors": [
                "aot"
              ],
              "export_datetime": "%s",
              "external_dependencies": [
                {
                  "short_name": "tvm_standalone_crt",
                  "url": "./runtime",
                  "url_type": "mlf_path",
                  "version_spec": "0.1.0"
                }
              ],
              "memory": {
                "functions": {
                  "main": [
                    {
                      "constants_size_bytes": 22000,
                      "device": 1,
                      "inputs": {
                        "a": {
                          "dtype": "float32",
                          "size": 8
                        },
                        "z:0": {
                          "dtype": "int8",
                          "size": 490
                        }
                      },
                      "io_size_bytes": 510,
                      "outputs": {
                        "Identity": {
                          "dtype": "int8",
                          "size": 12
                        }
                      },
                      "workspace_size_bytes": 1600
                    }
                  ],
                  "operator_functions": [
                    {
                      "function_name": "tvmgen_kws_fused_qnn_conv2d",
                      "workspace": [
                        {
                          "device": 1,
                          "workspace_size_bytes": 64
                        }
                      ]
                    }
                  ]
                }
              },
              "model_name": "kws",
              "style": "full-model",
              "target": TARGET
            }\
            """, time);
        return text.replace("\n", "\n" + " ".repeat(indent)).replace("TARGET", target);
    }
}
