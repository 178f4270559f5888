// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.listing;

import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.ReportedTensor;
import java.util.List;

/**
 * Files as {@code kiln:inspect} prints them.
 *
 * @param files one, or the project's models and their image
 */
public record InspectReport(List<Shown> files) {
    public InspectReport {
        files = List.copyOf(files);
    }

    /** What is shown of a file; its kind names one of the schema's alternatives. */
    public sealed interface Shown {
        String kind();

        /** The file's path. */
        String file();
    }

    /**
     * A model. All sizes are in bytes.
     *
     * @param kind {@code model}
     * @param workspaceBytes what the plan of the workspace takes
     * @param lowerBound a bound below which no plan exists
     * @param stateBytes variables that it keeps between runs
     * @param npuParts the parts that Vela compiled for an NPU
     */
    public record Model(
            String kind,
            String file,
            String target,
            List<ReportedTensor> inputs,
            List<ReportedTensor> outputs,
            List<Operator> operators,
            long macs,
            long constantBytes,
            long workspaceBytes,
            long lowerBound,
            long stateBytes,
            List<NpuPart> npuParts)
            implements Shown {
        public Model {
            npuParts = List.copyOf(npuParts);
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
            operators = List.copyOf(operators);
        }
    }

    /**
     * An operator of a model.
     *
     * @param op names of the fused operators
     */
    public record Operator(
            String op, List<ReportedTensor> outputs, long macs, long constantBytes, long workspaceBytes) {
        public Operator {
            outputs = List.copyOf(outputs);
        }
    }

    /**
     * A part of a model for an NPU. All sizes are in bytes.
     *
     * @param name of the tensor that it computes first
     * @param npu which NPU Vela compiled it for
     * @param commands number of commands
     * @param macs multiply-accumulates of its convolutions
     * @param regions what its addresses are relative to, by number
     * @param weightBytes compressed weights that it reads
     * @param scaleBytes biases and scales that it reads
     * @param tableBytes tables that it loads
     * @param operations a line for each operation, with the memory that it touches
     */
    public record NpuPart(
            String name,
            String npu,
            long payloadBytes,
            long commands,
            long macs,
            List<NpuRegion> regions,
            long weightBytes,
            long scaleBytes,
            long tableBytes,
            List<String> operations) {
        public NpuPart {
            regions = List.copyOf(regions);
            operations = List.copyOf(operations);
        }
    }

    /** Memory that a part for an NPU addresses. */
    public record NpuRegion(String name, long bytes) {}

    /**
     * An image.
     *
     * @param kind {@code image}
     * @param board the board that it is measured for
     */
    public record Image(
            String kind,
            String file,
            String board,
            BuildReport.Flash flash,
            BuildReport.Ram ram,
            List<BuildReport.MemoryUse> memories)
            implements Shown {
        public Image {
            memories = List.copyOf(memories);
        }
    }

    /**
     * A Model Library Format archive.
     *
     * @param kind {@code archive}
     * @param version of the format
     * @param models those that firmware can be built from
     * @param content the archive's files
     * @param problems why firmware cannot be built from it; empty if it can
     */
    public record Archive(
            String kind,
            String file,
            String version,
            List<ArchivedModel> models,
            List<Part> content,
            List<String> problems)
            implements Shown {
        public Archive {
            models = List.copyOf(models);
            content = List.copyOf(content);
            problems = List.copyOf(problems);
        }
    }

    /** A model of an archive. */
    public record ArchivedModel(
            String name,
            String target,
            List<ReportedTensor> inputs,
            List<ReportedTensor> outputs,
            long constantBytes,
            long workspaceBytes) {
        public ArchivedModel {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }
    }

    /** A file in an archive, or an artifact in a library. */
    public record Part(String name, long bytes) {}

    /**
     * A shared library.
     *
     * @param kind {@code library}
     * @param modules by their number, which imports name
     * @param artifacts what the library carries
     */
    public record Library(String kind, String file, List<LibraryModule> modules, List<Part> artifacts)
            implements Shown {
        public Library {
            modules = List.copyOf(modules);
            artifacts = List.copyOf(artifacts);
        }
    }

    /** A module of a library. */
    public record LibraryModule(String type, List<String> functions, List<Integer> imports) {
        public LibraryModule {
            functions = List.copyOf(functions);
            imports = List.copyOf(imports);
        }
    }

    /**
     * A file of another kind, as an inspector shows it.
     *
     * @param kind {@code text}
     * @param lines for people
     */
    public record Text(String kind, String file, List<String> lines) implements Shown {
        public Text {
            lines = List.copyOf(lines);
        }
    }
}
