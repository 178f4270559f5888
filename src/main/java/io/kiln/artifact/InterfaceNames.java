// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The C names of one model: its functions, structs, macros and files, formed as microTVM forms them. Functions and
 * structs have the model's name in lower case, macros in upper case, source files unchanged.
 *
 * @param model the model's name, such as {@code default}
 */
public record InterfaceNames(String model) {
    /** Prefix of every generated C name. */
    public static final String PREFIX = "tvmgen_";

    /** Suffix of a model's header. */
    public static final String HEADER_SUFFIX = ".h";

    /** Prefix of the symbols of tables that several models of a program may have. */
    public static final String SHARED_PREFIX = PREFIX + "shared_";

    /** The linker section of workspace pools, which need no initial values. */
    public static final String WORKSPACE_SECTION = ".bss.noinit.tvm";

    /** The linker section of weights and tables. */
    public static final String CONSTANTS_SECTION = ".rodata.tvm";

    /** The pool of weights and tables that stay with the board's constants while all others move to its further memory. */
    public static final String NEAR_CONSTANTS = "near_constants";

    /** The linker section of {@link #NEAR_CONSTANTS}, which the patterns of {@link #CONSTANTS_SECTION} do not match. */
    public static final String NEAR_SECTION = ".rodata.kiln.near";

    /** The pool of weights and tables that a program copies to RAM when it starts. */
    public static final String RAM_CONSTANTS = "ram_constants";

    /** The linker sections of {@link #RAM_CONSTANTS}, each with the name of a table behind a dot. */
    public static final String RAM_CONSTANTS_SECTION = ".ramdata";

    /** The linker sections of functions that a program copies to RAM when it starts, each with the name of one behind a dot. */
    public static final String RAM_CODE_SECTION = ".ramfunc";

    /** The linker section of parameters that are flashed by themselves. */
    public static final String PARAMETERS_SECTION = CONSTANTS_SECTION + ".parameters";

    /** The linker section of a workspace pool that the board's linker script may place. */
    public static String workspaceSection(String pool) {
        return WORKSPACE_SECTION + "." + pool;
    }

    /** The linker section of a pool of constants that the board's linker script may place. */
    public static String constantsSection(String pool) {
        return switch (pool) {
            case NEAR_CONSTANTS -> NEAR_SECTION;
            case RAM_CONSTANTS -> RAM_CONSTANTS_SECTION;
            default -> CONSTANTS_SECTION + "." + pool;
        };
    }

    /** Matches symbols of a model's state. Compilers may split an array and append numbers after a dot. */
    private static final Pattern STATE = Pattern.compile(PREFIX + "\\w+_(state[0-9]+|ready)(\\..*)?");

    /** {@code <name>} of the functions: the model's name in lower case. The runtime's AOT executor is created with it. */
    public String lowerCase() {
        return model.toLowerCase(Locale.ROOT);
    }

    /** {@code tvmgen_<name>}: prefix of all other names. */
    public String prefix() {
        return PREFIX + lowerCase();
    }

    /** {@code tvmgen_<name>.h}. */
    public String header() {
        return prefix() + HEADER_SUFFIX;
    }

    /** {@code tvmgen_<name>_tensors.h}. */
    public String tensorsHeader() {
        return prefix() + "_tensors" + HEADER_SUFFIX;
    }

    /** {@code tvmgen_<name>_ram.h}: what of its code and constants is copied to RAM. */
    public String ramHeader() {
        return prefix() + "_ram" + HEADER_SUFFIX;
    }

    /** {@code tvmgen_<name>_preprocess}: prefix of what turns audio into the model's input, and name of its struct. */
    public String preprocess() {
        return prefix() + "_preprocess";
    }

    /** {@code tvmgen_<name>_preprocess_next}: computes a row of features. */
    public String nextRow() {
        return preprocess() + "_next";
    }

    /** {@code tvmgen_<name>_preprocess.h}. */
    public String preprocessHeader() {
        return preprocess() + HEADER_SUFFIX;
    }

    /** {@code <name>_preprocess.c}. */
    public String preprocessSource() {
        return model + "_preprocess.c";
    }

    /** {@code <name>.audio}: under which the default application runs the model on audio. No model has such a name. */
    public String audio() {
        return model + ".audio";
    }

    /**
     * Name of a generated file without its suffix: {@code <name>_lib0} holds the entry point, those from 1 on the
     * operators.
     *
     * @param number 0 or more
     */
    public String library(int number) {
        return model + "_lib" + number;
    }

    /** {@code tvmgen_<name>_run}: the function that users call. */
    public String run() {
        return prefix() + "_run";
    }

    /** {@code tvmgen_<name>_reset}: sets variables to their initial values. */
    public String reset() {
        return prefix() + "_reset";
    }

    /** {@code tvmgen_<name>___tvm_main__}: calls the operators in order. */
    public String main() {
        return prefix() + "___tvm_main__";
    }

    /** {@code tvmgen_<name>___tvm_main___part<number>}: calls some of the operators of a model with very many. */
    public String mainPart(int number) {
        return main() + "_part" + number;
    }

    /** {@code tvmgen_<name>_get_c_metadata}: tells programs what the model's tensors are. */
    public String metadata() {
        return prefix() + "_get_c_metadata";
    }

    /** {@code tvmgen_<name>_map_inputs} or {@code _map_outputs}: where tensors lie in the workspace pool. */
    public String map(Side side) {
        return prefix() + "_map_" + side.text();
    }

    /** {@code struct tvmgen_<name>_inputs} or {@code _outputs}. */
    public String struct(Side side) {
        return struct(side.text());
    }

    /** {@code struct tvmgen_<name>_workspace_pools}. */
    public String poolsStruct() {
        return struct("workspace_pools");
    }

    /** {@code struct tvmgen_<name>_devices}: drivers that TVM's interface may require. */
    public String devicesStruct() {
        return struct("devices");
    }

    private String struct(String what) {
        return "struct " + prefix() + "_" + what;
    }

    /** The static array of a variable, by its index. */
    public String state(int index) {
        return prefix() + "_state" + index;
    }

    /** The static flag that tells whether the variables are initialised. */
    public String ready() {
        return prefix() + "_ready";
    }

    /** Whether a symbol of an image is static memory that a model keeps between runs. */
    public static boolean isState(String symbol) {
        return STATE.matcher(symbol).matches();
    }

    /** The include guard of the header. */
    public String includeGuard() {
        return macro("H_");
    }

    /** {@code TVMGEN_<NAME>_<TENSOR>_SIZE}: bytes of an input or output. */
    public String tensorSize(String cName) {
        return macro(cName + "_SIZE");
    }

    /** {@code TVMGEN_<NAME>_WORKSPACE_SIZE}: planned bytes. */
    public String workspaceSize() {
        return macro("WORKSPACE_SIZE");
    }

    /** {@code TVMGEN_<NAME>_<POOL>_WORKSPACE_POOL_SIZE}: bytes of an external pool. */
    public String poolSize(String pool) {
        return macro(pool + "_WORKSPACE_POOL_SIZE");
    }

    /** {@code TVMGEN_<NAME>_<POOL>_CONSTANT_POOL_SIZE}: bytes of an external pool of constants. */
    public String constantPoolSize(String pool) {
        return macro(pool + "_CONSTANT_POOL_SIZE");
    }

    /** {@code TVMGEN_<NAME>_<POOL>_CONSTANT_POOL_DATA}: its bytes, separated by commas. */
    public String constantPoolData(String pool) {
        return macro(pool + "_CONSTANT_POOL_DATA");
    }

    /** {@code TVMGEN_<NAME>_STATE_SIZE}: static bytes that the model keeps between runs. */
    public String stateSize() {
        return macro("STATE_SIZE");
    }

    /** {@code TVMGEN_<NAME>_<WHAT>}. */
    public String macro(String what) {
        return (prefix() + "_" + what).toUpperCase(Locale.ROOT);
    }

    /** Inputs or outputs. */
    public enum Side {
        INPUTS,
        OUTPUTS;

        /** The word for it in C names. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
