// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Optional;

/** An error that a server reports for a request; the server itself goes on, except after a request it could not read. */
public final class MethodFailure extends KilnException {
    private static final long serialVersionUID = 1L;

    static final int SERVER_ERROR = -32000;
    static final int INVALID_REQUEST = -32600;
    static final int METHOD_NOT_FOUND = -32601;
    static final int INVALID_PARAMS = -32602;

    private static final String IO_TIMEOUT = "IoTimeoutError";
    private static final String TRANSPORT_CLOSED = "TransportClosedError";
    private static final int MOST_TRACEBACK = 4000;

    private final int code;
    private final String reported;

    MethodFailure(int code, String reported, Optional<String> traceback) {
        super(Failure.API.problem(
                explained(code, reported),
                "",
                "",
                traceback.map(MethodFailure::end).orElse("")));
        this.code = code;
        this.reported = reported;
    }

    MethodFailure(int code, String reported) {
        this(code, reported, Optional.empty());
    }

    /** No byte came, or not every byte went out, in time. */
    public static MethodFailure ioTimeout() {
        return new MethodFailure(SERVER_ERROR, IO_TIMEOUT);
    }

    /**
     * There is no connection to the board, or it broke.
     *
     * @param why what is known about it
     */
    public static MethodFailure transportClosed(String why) {
        return new MethodFailure(SERVER_ERROR, TRANSPORT_CLOSED, Optional.of(why));
    }

    /** The message of the reply, such as {@code IoTimeoutError}. */
    String reported() {
        return reported;
    }

    /** JSON-RPC's code: -32000 for a failed method, -32600 to -32603 for a request that the server refuses. */
    public int code() {
        return code;
    }

    /** Whether no byte came, or not every byte went out, in time. */
    public boolean isIoTimeout() {
        return IO_TIMEOUT.equals(reported);
    }

    private static String explained(int code, String reported) {
        String cause = switch (reported) {
            case IO_TIMEOUT -> "the board sent or took no data in time";
            case TRANSPORT_CLOSED -> "the connection to the board is closed";
            case "UnsupportedTVMVersionError" -> "the server does not support this version of TVM";
            default -> "the server reports an error";
        };
        return cause + ": " + reported + " (" + code + ")";
    }

    /** The end of a traceback, which tells the failure itself. */
    private static String end(String traceback) {
        String text = traceback.strip();
        return "\n" + (text.length() <= MOST_TRACEBACK ? text : "..." + text.substring(text.length() - MOST_TRACEBACK));
    }
}
