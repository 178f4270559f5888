// SPDX-License-Identifier: Apache-2.0
/** The state that a step keeps of its last run, and the lock that keeps builds apart. */
package io.kiln.flow.state;
