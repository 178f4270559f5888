// SPDX-License-Identifier: Apache-2.0
/** Common to all executors: the planned module, its interface and the result. */
package io.kiln.executor;
