// SPDX-License-Identifier: Apache-2.0
/** Static memory planning: buffers with lifetimes become offsets in one workspace. */
package io.kiln.memory;
