// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;

/** A failure between a host and an RPC server. Texts begin as those of TVM's host do, so that tools find them. */
public final class RpcException extends KilnException {
    private static final long serialVersionUID = 1L;

    /** The place of a failure, until the transport says a better one. */
    public static final String WHERE = "console";

    /** Kinds of failures. */
    public enum Kind {
        /** No session came about in time. */
        SESSION_START_TIMEOUT,
        /** No reply came in time. */
        REPLY_TIMEOUT,
        /** The board ended the session: it was reset, or its program started again. */
        SESSION_TERMINATED,
        /** Another client holds the line. */
        LINE_HELD,
        /** The line or the program went away. */
        LINE_CLOSED,
        /** The board sent what the protocol does not allow. */
        MALFORMED,
        /** The board refused a request or a function failed; the session goes on. */
        REMOTE,
        /** A failure before this one ended the session. */
        OVER,
        /** The thread that waited was interrupted. */
        INTERRUPTED
    }

    private final Kind kind;

    /**
     * A failure.
     *
     * @param problem what happened and what helps
     */
    public RpcException(Kind kind, Problem problem) {
        super(problem);
        this.kind = kind;
    }

    /** A reply that violates the protocol. */
    public static RpcException malformed(String what, String expected) {
        return new RpcException(
                Kind.MALFORMED,
                Failure.RPC.problem(
                        what, WHERE, expected, "Look whether the board's server speaks the same version of RPC"));
    }

    /** The kind of this failure. */
    public Kind kind() {
        return kind;
    }
}
